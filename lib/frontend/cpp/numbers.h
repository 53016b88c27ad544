#pragma once
// Numbers in registers: C++'s conversions and operators in the IR, indices, and constants that Clang has
// evaluated. Objects are unknown here.

#include "frontend/cpp/context.h"

namespace adc::frontend {

class Numbers : protected Context {
 protected:
  using Context::Context;

  Type TypeOf(Value value) const { return writer_.TypeOf(value); }
  Value Make(Op op, std::initializer_list<Value> operands) { return writer_.Make(op, operands); }
  Value Convert(Value value, Type to);
  Value Index(Value value);
  Value Narrow(Value index);
  Value Further(Value a, Value b, bool in_buffer);
  Value Number(uint64_t n, Type type = ir::kI32) { return writer_.Int(type, static_cast<int64_t>(n)); }
  Value ZeroOf(Type type);
  Value Composed(Type type, std::span<const Value> parts);
  Value PartOf(Value whole, uint32_t n);
  Value Arithmetic(clang::BinaryOperatorKind kind, Value a, Value b, const clang::Expr* at);
  std::optional<Value> ConstantValue(const clang::APValue& value, QualType type);
  std::optional<Value> ConstantValue(const clang::APValue& value, Type type);
  std::optional<Value> TryConstant(const clang::Expr* expression);

 private:
  bool Rounds(Value sum, Value less) const;
};

}  // namespace adc::frontend

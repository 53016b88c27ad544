#pragma once
// An operation without regions as text, from its spelling to its attributes; the results stand in front of it
// already.

#include <span>
#include <string>

#include "ir/function.h"
#include "ir/operand_printer.h"

namespace adc::ir {

class OperationPrinter {
 public:
  /// All must outlive this.
  OperationPrinter(const Module& module, const Function& function, OperandPrinter& print, std::string& out)
      : module_(module), function_(function), print_(print), out_(out) {}

  /// `inst` is neither structured control nor a terminator.
  void Print(Inst inst);

 private:
  void List(std::span<const Value> operands, const char* before);
  void More(std::span<const Value> operands, Type type);
  void Plain(Op op, std::span<const Value> operands, Type result);
  void Shape(const InstData& data, std::span<const Value> operands, Type result);
  void Access(const InstData& data, std::span<const Value> operands);
  void Call(const InstData& data, std::span<const Value> operands);
  void Assert(const InstData& data, std::span<const Value> operands);
  void Stack(const InstData& data, std::span<const Value> operands);
  void Row(const InstData& data, std::span<const Value> operands, Type result);
  Type AccessType(const InstData& data, Value base) const;
  Type ScalarTypeOf(Value v) const;

  const Module& module_;
  const Function& function_;
  OperandPrinter& print_;
  std::string& out_;
};

}  // namespace adc::ir

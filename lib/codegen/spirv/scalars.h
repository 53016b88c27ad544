#pragma once
// Scalar operations as SPIR-V: every operation on registers that the table names, for every type.
//
// Registers are of five types: bool, 32- and 64-bit integers, f32 and f64. Narrow integers live in 32 bits,
// extended after their type; f16 lives in an f32 that an f16 can hold exactly. So no arithmetic needs more
// than the device must have anyway, and narrow types need only what loads and stores them.
//
// No operation traps and none is undefined: a divisor that would trap is replaced before the division, shift
// amounts are taken modulo the width, conversions saturate.
//
// Devices may regroup whatever SPIR-V does not protect, products over sums included. Only fast mode lets
// them; in the others every operation is protected, and where a product and a sum may become one operation
// (FloatMode::Contract) the body's emission writes the fma itself. The values that decide about control flow
// are protected in all of them (SetMode).

#include "codegen/common/config.h"
#include "codegen/spirv/function_builder.h"
#include "ir/op.h"

namespace adc::codegen::spirv {

/// Calls of functions that are no instruction.
class MathCalls {
 public:
  virtual ~MathCalls() = default;
  /// The function that computes `op` for f32 or f64 operands; 0 where GLSL.std.450 is to do it.
  virtual Id FunctionFor(ir::Op op, ir::Scalar scalar, FloatMode mode) = 0;
};

/// Bits of the register that holds a scalar: 32 or 64; 1 for i1.
uint32_t RegisterWidth(ir::Scalar scalar);

class ScalarEmitter {
 public:
  ScalarEmitter(FunctionBuilder& builder, MathCalls& math, FloatMode mode)
      : f_(builder), m_(builder.module()), math_(math), mode_(mode) {}

  Id RegisterType(ir::Scalar scalar);
  /// A constant from its bits, as ir::ConstantData keeps them.
  Id Constant(ir::Scalar scalar, uint64_t bits);
  /// The same, where it is an element of an array of the module.
  Id ElementConstant(ir::Scalar scalar, uint64_t bits);
  Id Zero(ir::Scalar scalar) { return Constant(scalar, 0); }

  /// A pure operation on scalars. `operand`: the type of its first operand but for select, where it is that
  /// of the second; `result`: its result type.
  Id Emit(ir::Op op, ir::Scalar operand, ir::Scalar result, std::span<const Id> operands);
  Id Emit(ir::Op op, ir::Scalar operand, ir::Scalar result, std::initializer_list<Id> operands) {
    return Emit(op, operand, result, std::span<const Id>(operands.begin(), operands.size()));
  }

  FloatMode mode() const { return mode_; }
  /// From here on.
  void SetMode(FloatMode mode) { mode_ = mode; }
  MathCalls& math() { return math_; }

  /// The bits of a register as an integer of its own width (32 or 64); of f16 in the low half.
  Id ToBits(ir::Scalar scalar, Id value);
  Id FromBits(ir::Scalar scalar, Id bits);
  /// A 32-bit integer whose low bits hold a narrow integer, made into its register.
  Id Normalise(ir::Scalar scalar, Id value);

 private:
  Id Float(spv::Op op, ir::Scalar scalar, std::initializer_list<Id> operands);
  /// The same, in any mode as written.
  Id Exact(spv::Op op, ir::Scalar scalar, std::initializer_list<Id> operands);
  Id FloatConstant(ir::Scalar scalar, double value);
  Id Choose(ir::Scalar scalar, Id condition, Id a, Id b) {
    return f_.Choose(RegisterType(scalar), condition, a, b);
  }
  Id UnaryInteger(ir::Op op, ir::Scalar scalar, Id a);
  Id UnaryFloat(ir::Op op, ir::Scalar scalar, Id a);
  Id BinaryInteger(ir::Op op, ir::Scalar scalar, Id a, Id b);
  Id BinaryBool(ir::Op op, Id a, Id b);
  Id TimesZero(ir::Scalar scalar, Id a, Id b);
  Id TruncateWide(Id a);
  Id RoundWide(Id a);
  Id BinaryFloat(ir::Op op, ir::Scalar scalar, Id a, Id b);
  Id Divide(ir::Op op, ir::Scalar scalar, Id a, Id b);
  Id Compare(ir::Op op, ir::Scalar scalar, Id a, Id b);
  Id Math(ir::Op op, ir::Scalar scalar, std::span<const Id> operands);
  Id CountLeadingZeros(ir::Scalar scalar, Id a);
  Id CountBits(ir::Scalar scalar, Id a);
  Id Convert(ir::Scalar from, ir::Scalar to, Id a);
  Id FloatToInteger(ir::Scalar from, ir::Scalar to, Id a);
  Id Reinterpret(ir::Scalar from, ir::Scalar to, Id a);
  /// An f32 rounded to what an f16 holds.
  Id RoundToHalf(Id single);
  /// An f64 as an f32 whose rounding does not disturb a second one to f16: to odd.
  Id RoundToOdd(Id wide);
  Id HalfFma(Id a, Id b, Id c);

  FunctionBuilder& f_;
  ModuleBuilder& m_;
  MathCalls& math_;
  FloatMode mode_;
  std::map<std::pair<uint32_t, uint64_t>, Id> by_bits_;  ///< floats that are no constants, by width and bits
};

}  // namespace adc::codegen::spirv

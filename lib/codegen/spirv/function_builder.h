#pragma once
// One SPIR-V function under construction, with arithmetic that folds constants on the way.

#include "codegen/spirv/function_code.h"

namespace adc::codegen::spirv {

class FunctionBuilder : public FunctionCode {
 public:
  using FunctionCode::FunctionCode;

  Id Both(Id a, Id b) { return Emit(spv::OpLogicalAnd, module_.types.Bool(), {a, b}); }
  Id Not(Id truth) { return Emit(spv::OpLogicalNot, module_.types.Bool(), {truth}); }

  // Integers of 32 or 64 bits. Folds constants and neutral elements.
  Id Int(uint32_t width, uint64_t value) { return module_.constants.Int(width, value); }
  Id Add(uint32_t width, Id a, Id b) { return Integer(spv::OpIAdd, width, a, b); }
  Id Sub(uint32_t width, Id a, Id b) { return Integer(spv::OpISub, width, a, b); }
  Id Mul(uint32_t width, Id a, Id b) { return Integer(spv::OpIMul, width, a, b); }
  Id And(uint32_t width, Id a, Id b) { return Integer(spv::OpBitwiseAnd, width, a, b); }
  Id ShiftLeft(uint32_t width, Id a, Id b) { return Integer(spv::OpShiftLeftLogical, width, a, b); }
  Id ShiftRight(uint32_t width, Id a, Id b) { return Integer(spv::OpShiftRightLogical, width, a, b); }
  /// Unsigned; the divisor is not 0.
  Id Div(uint32_t width, Id a, Id b) { return Integer(spv::OpUDiv, width, a, b); }
  Id Mod(uint32_t width, Id a, Id b) { return Integer(spv::OpUMod, width, a, b); }
  /// Any comparison. Of numbers that 32-bit ones were widened to, in 32 bits: that is shorter, and some
  /// drivers go wrong where they do it themselves.
  Id Compare(spv::Op op, Id a, Id b);
  Id Choose(Id type, Id condition, Id a, Id b);
  /// For translators, the value once more as one that this block computes: naga loses what a loop leaves in
  /// operations of a subgroup, and the result of an atomic one in what a loop carries.
  Id Here(Id type, Id value);
  /// Between 32 and 64 bits.
  Id Resize(Id a, uint32_t from, uint32_t to, bool is_signed);

  /// A pointer to element `index` of the array `array`, whose elements have `type`.
  Id Element(spv::StorageClass memory, Id type, Id array, Id index) {
    return Emit(spv::OpAccessChain, module_.types.Pointer(memory, type), {array, index});
  }
  Id Load(Id type, Id pointer, uint32_t alignment);  ///< 0: no alignment needs to be said
  void Store(Id pointer, Id value, uint32_t alignment);

 private:
  Id Integer(spv::Op op, uint32_t width, Id a, Id b);
  /// The 32-bit number that a 64-bit one equals; 0 where none is known.
  Id NarrowOf(Id wide);

  std::map<Id, Id> widened_;  ///< 64-bit integer -> the 32-bit one whose sign it was extended after
};

}  // namespace adc::codegen::spirv

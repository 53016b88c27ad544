#pragma once
// Sets of operations, each as an enumeration: a switch over one gives every member a meaning of its own, and
// does not compile where a row of ops.def has none. In<FloatUnaryOp>(op) is `op` as a member; operations
// outside the set are no enumerator, and pass the switch.

#include "ir/op.h"

namespace adc::ir {

/// The row of an operation in the table, for questions at compile time.
struct OpRow {
  Op op;
  OpClass op_class;
  OpForm form;
  TypeRule rule;
  Effect effect;
  uint8_t traits;
};

/// Whether operations of a rule map numbers of one kind to such a number.
constexpr bool MapsFloats(TypeRule rule) {
  return rule == TypeRule::SameNumber || rule == TypeRule::SameNumberScale || rule == TypeRule::SameFloat ||
         rule == TypeRule::SameAny;
}
constexpr bool MapsIntegers(TypeRule rule) {
  return rule == TypeRule::SameNumber || rule == TypeRule::SameNumberScale || rule == TypeRule::SameInteger ||
         rule == TypeRule::SameBits || rule == TypeRule::SameAny;
}
constexpr bool MapsBools(TypeRule rule) {
  return rule == TypeRule::SameBits || rule == TypeRule::SameAny;
}

constexpr bool IsFloatUnary(const OpRow& row) {
  return row.form == OpForm::Unary && MapsFloats(row.rule);
}
constexpr bool IsFloatBinary(const OpRow& row) {
  return row.form == OpForm::Binary && MapsFloats(row.rule);
}
constexpr bool IsIntegerUnary(const OpRow& row) {
  return row.form == OpForm::Unary && MapsIntegers(row.rule);
}
constexpr bool IsIntegerBinary(const OpRow& row) {
  return row.form == OpForm::Binary && MapsIntegers(row.rule);
}
constexpr bool IsBoolUnary(const OpRow& row) {
  return row.form == OpForm::Unary && MapsBools(row.rule);
}
constexpr bool IsBoolBinary(const OpRow& row) {
  return row.form == OpForm::Binary && MapsBools(row.rule);
}
constexpr bool IsClassification(const OpRow& row) {
  return row.rule == TypeRule::Classify;
}
constexpr bool IsScalarTernary(const OpRow& row) {
  return row.form == OpForm::Ternary && row.op_class != OpClass::Vector;
}
/// Loads, stores and updates of memory.
constexpr bool IsMemoryAccess(const OpRow& row) {
  return row.form == OpForm::Access;
}
constexpr bool IsStackOperation(const OpRow& row) {
  return row.op_class == OpClass::Stack;
}
constexpr bool IsRowOperation(const OpRow& row) {
  return row.op_class == OpClass::Row;
}
/// Atomics and add_to.
constexpr bool IsUpdate(const OpRow& row) {
  return row.effect == Effect::Atomic;
}
/// Operations that back ends compute by instructions.
constexpr bool IsFloatUnaryInstruction(const OpRow& row) {
  return IsFloatUnary(row) && row.op_class == OpClass::Arithmetic;
}
constexpr bool IsFloatBinaryInstruction(const OpRow& row) {
  return IsFloatBinary(row) && row.op_class == OpClass::Arithmetic;
}
constexpr bool IsIntegerUnaryInstruction(const OpRow& row) {
  return IsIntegerUnary(row) && (row.op_class == OpClass::Arithmetic || row.op_class == OpClass::Bits);
}
constexpr bool IsIntegerBinaryInstruction(const OpRow& row) {
  return IsIntegerBinary(row) && (row.op_class == OpClass::Arithmetic || row.op_class == OpClass::Bits);
}
/// Functions that they take from a library.
constexpr bool IsLibraryFunction(const OpRow& row) {
  return row.op_class == OpClass::Function && (row.traits & OwnText) == 0;
}

inline constexpr OpRow kOpRows[] = {
#define ADC_OP(name, spelling, op_class, form, rule, effect, traits, ...) \
  {Op::name, OpClass::op_class, OpForm::form, TypeRule::rule, Effect::effect, traits},
#include "ir/ops.def"
#undef ADC_OP
};

template <bool (*belongs)(const OpRow&)>
struct SetOf {
  enum class Member : uint8_t {
    Other = kOpCount,  ///< stands for all operations outside of the set; the value of none
#define ADC_OP(name, ...) name = belongs(kOpRows[static_cast<uint8_t>(Op::name)]) ? uint8_t(Op::name) : Other,
#include "ir/ops.def"
#undef ADC_OP
  };
};

using FloatUnaryOp = SetOf<IsFloatUnary>::Member;
using FloatBinaryOp = SetOf<IsFloatBinary>::Member;
using IntegerUnaryOp = SetOf<IsIntegerUnary>::Member;
using IntegerBinaryOp = SetOf<IsIntegerBinary>::Member;
using BoolUnaryOp = SetOf<IsBoolUnary>::Member;
using BoolBinaryOp = SetOf<IsBoolBinary>::Member;
using Classification = SetOf<IsClassification>::Member;
using ScalarTernaryOp = SetOf<IsScalarTernary>::Member;
using AccessOp = SetOf<IsMemoryAccess>::Member;
using StackOp = SetOf<IsStackOperation>::Member;
using RowOp = SetOf<IsRowOperation>::Member;
using UpdateOp = SetOf<IsUpdate>::Member;
using FloatUnaryInstruction = SetOf<IsFloatUnaryInstruction>::Member;
using FloatBinaryInstruction = SetOf<IsFloatBinaryInstruction>::Member;
using IntegerUnaryInstruction = SetOf<IsIntegerUnaryInstruction>::Member;
using IntegerBinaryInstruction = SetOf<IsIntegerBinaryInstruction>::Member;
using LibraryFunction = SetOf<IsLibraryFunction>::Member;

}  // namespace adc::ir

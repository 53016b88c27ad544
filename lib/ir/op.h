#pragma once
// The enumeration of operations and what the table says of each.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ir/type.h"

namespace adc::ir {

enum class Op : uint8_t {
#define ADC_OP(name, ...) name,
#include "ir/ops.def"
#undef ADC_OP
};

inline constexpr uint32_t kOpCount = 0
#define ADC_OP(...) +1
#include "ir/ops.def"
#undef ADC_OP
    ;

enum class OpForm : uint8_t {
  Nullary,
  Unary,
  Binary,
  Ternary,
  Variadic,
  RandomForm,  ///< `random %seed, %counter [, %stream] : f32`
  Convert,     ///< `cast %x to f64`
  ShapeForm,   ///< `shape %x, 0 [: i64]`
  Access,      ///< `op %base[%i, ...][.component] [, value ...]`
  AllocaForm,  ///< `alloca array<f32, 9>`
  Control,
  CallForm,
  Terminator,
  AssertForm,
  PrintForm,
  StackNewForm,  ///< `stack.new f32`
  StackForm,     ///< `stack.push %s, %v [at %slot]`, `stack.pop %s [at %slot]`
  RowForm,       ///< `row.claim 0`: the number of a group or stack
  RowAccess,     ///< `row.load %row, %byte : f32`, `row.store %row, %byte, %v`
  StatusForm,    ///< `status.raise 0, 1, %needed`: task, stack, needed elements
};

enum class TypeRule : uint8_t {
  SameNumber,       ///< all operands and the result of one integer or float type (vectors element-wise)
  SameNumberScale,  ///< as SameNumber; one operand may be the scalar of the other's vector or matrix type
  SameFloat,
  SameInteger,
  SameBits,  ///< integers or i1
  SameAny,
  Compare,       ///< numbers or i1 to i1 (vectors element-wise)
  CompareOrder,  ///< numbers to i1
  SelectRule,    ///< i1 (or a vector of i1), then two of one type
  CastRule,
  BitcastRule,
  VecMakeRule,
  VecGetRule,
  VecSetRule,
  DotRule,
  CrossRule,
  NormRule,
  NormalizeRule,
  MatMakeRule,
  MatGetRule,
  MatMulRule,
  TransposeRule,
  DetRule,
  InverseRule,
  OuterRule,
  IdentityRule,
  RandomRule,  ///< two or three integers of 32 or 64 bits; gives what the statement says
  ShapeRule,
  LoadRule,
  StoreRule,
  AtomicRule,
  AtomicIntegerRule,
  AtomicCompareRule,
  AllocaRule,
  ControlRule,
  CallRule,
  TerminatorRule,
  AssertRule,
  PrintRule,
  StackNewRule,
  StackPushRule,
  StackPopRule,
  RowClaimRule,
  RowLoadRule,
  RowStoreRule,
  StatusRule,
};

enum class Effect : uint8_t {
  Pure,     ///< depends on its operands alone
  Read,     ///< reads memory
  Write,    ///< writes memory
  Atomic,   ///< reads and writes memory
  Local,    ///< makes thread-local storage
  StackOp,  ///< moves an adstack or touches a row
  Report,   ///< sets the status word or prints
  Control,  ///< has regions or ends one: its effect is that of what it holds
};

enum class Derivative : uint8_t {
  None,           ///< not a float operation
  Zero,           ///< derivative zero everywhere (steps, stop_gradient)
  Linear,         ///< partials are constants
  NeedsOperands,  ///< partials read operands
  NeedsResult,    ///< partials read the result alone
  NeedsBoth,      ///< partials read operands and, where that is cheaper, the result
  Memory,         ///< adjoint of memory
  Control,        ///< adjoint of structure
  NotDifferentiable,
};

struct OpInfo {
  std::string_view spelling;
  OpForm form;
  TypeRule rule;
  Effect effect;
  Derivative derivative;
  std::string_view doc;
};

const OpInfo& InfoOf(Op op);
/// The operation spelled `text` (for atomics with one space: "atomic add").
std::optional<Op> OpFromSpelling(std::string_view text);

constexpr bool IsAtomic(Op op) {
  return op >= Op::AtomicAdd && op <= Op::AtomicCompareExchange;
}
constexpr bool IsAccess(Op op) {
  return op >= Op::Load && op <= Op::AddTo;
}
constexpr bool IsTerminator(Op op) {
  return op == Op::Yield || op == Op::ContinueIf || op == Op::Break || op == Op::Continue || op == Op::Return;
}
constexpr bool IsCompare(Op op) {
  return op >= Op::Eq && op <= Op::Ge;
}
constexpr bool HasRegions(Op op) {
  return op >= Op::For && op <= Op::ParallelOver;
}

/// Result type of an operation whose rule determines it from its operands (arithmetic, comparison, select,
/// vectors). Empty where the operands do not fit the rule, or where the rule needs more than operand types
/// (cast, memory, control, mat.make without square count, identity).
std::optional<Type> ResultType(Op op, std::span<const Type> operands);

}  // namespace adc::ir

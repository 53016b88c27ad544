#pragma once
// The enumeration of operations, and the columns of the table for each.

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

/// The kind of an operation. Code that asks only for the kind switches over the class; code that gives each
/// operation a meaning of its own switches over the operations of one class.
enum class OpClass : uint8_t {
  Arithmetic,  ///< of numbers, element by element
  Function,    ///< of floats, element by element: a library's or our own text, and dear
  Compare,     ///< of numbers, element by element, to i1
  Bits,        ///< of integers and i1, element by element
  Convert,     ///< of one value to another type, element by element, or passes it
  Composed,    ///< element by element; scalarisation writes it in other operations (transform/composed.ir)
  Vector,      ///< makes, reads or combines vectors and matrices
  Random,
  Shape,
  Access,  ///< of an element of memory, by one thread alone
  Atomic,  ///< of an element of memory, while others may
  Local,
  Control,  ///< has regions, or is a call
  Terminator,
  Check,  ///< reports, or waits: no value, and not left out
  Stack,  ///< of adstacks, before lowering
  Row,    ///< of their memory, after it
};

/// Set of what is true of some operations of a class.
enum OpTrait : uint8_t {
  Plain = 0,
  Commutes = 1,  ///< both operands may change places
  Exact = 2,     ///< every machine computes floats to the same bits
  Singular = 4,  ///< a partial derivative is not finite for some finite operands
  OwnText =
      8,  ///< a function that is written in other operations after differentiation (transform/composed.ir)
};

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
  BarrierForm,   ///< `barrier`
  StackNewForm,  ///< `stack.new f32`
  StackForm,     ///< `stack.push %s, %v [at %slot]`, `stack.pop %s [at %slot]`
  RowForm,       ///< `row.claim 0`: the number of a group or stack
  RowAccess,     ///< `row.load %row, 2, %slot : f32`, `row.store %row, 2, %slot, %v`: the number of a stack
  StatusForm,    ///< `status.raise 0, 1, %needed`: task, stack, needed elements; `status.raise access 3`: a
                 ///< check
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
  Classify,      ///< a float to i1 (vectors element-wise)
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
  TexelRule,
  AtomicRule,
  AtomicIntegerRule,
  AtomicCompareRule,
  AllocaRule,
  ControlRule,
  CallRule,
  TerminatorRule,
  AssertRule,
  PrintRule,
  BarrierRule,
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
  Report,   ///< sets the status word, prints, or waits for other invocations
  Control,  ///< has regions or ends one: its effect is that of what it holds
};

enum class Derivative : uint8_t {
  None,      ///< not a float operation
  Zero,      ///< derivative zero everywhere (steps, stop_gradient)
  Linear,    ///< partials are constants
  Partials,  ///< partials read values: autodiff/partials.ir, or the operations that it is written in
  Memory,    ///< adjoint of memory
  Control,   ///< adjoint of structure
  NotDifferentiable,
};

struct OpInfo {
  std::string_view spelling;
  OpClass op_class;
  OpForm form;
  TypeRule rule;
  Effect effect;
  uint8_t traits;  ///< OpTrait
  Derivative derivative;
  std::string_view doc;
};

const OpInfo& InfoOf(Op op);
/// The operation spelled `text` (for atomics with one space: "atomic add").
std::optional<Op> OpFromSpelling(std::string_view text);

inline constexpr OpClass kOpClasses[] = {
#define ADC_OP(name, spelling, op_class, ...) OpClass::op_class,
#include "ir/ops.def"
#undef ADC_OP
};
constexpr OpClass ClassOf(Op op) {
  return kOpClasses[static_cast<uint8_t>(op)];
}
inline bool Has(Op op, OpTrait trait) {
  return (InfoOf(op).traits & trait) != 0;
}

// The operations of one class, for a switch that gives each of them a meaning of its own and is told when a
// new one comes.
enum class ArithmeticOp : uint8_t {
#define ADC_CLASS_Arithmetic(name) name = static_cast<uint8_t>(Op::name),
#include "ir/ops_by_class.def"
};
enum class CompareOp : uint8_t {
#define ADC_CLASS_Compare(name) name = static_cast<uint8_t>(Op::name),
#include "ir/ops_by_class.def"
};
enum class BitsOp : uint8_t {
#define ADC_CLASS_Bits(name) name = static_cast<uint8_t>(Op::name),
#include "ir/ops_by_class.def"
};
enum class VectorOp : uint8_t {
#define ADC_CLASS_Vector(name) name = static_cast<uint8_t>(Op::name),
#include "ir/ops_by_class.def"
};
enum class ControlOp : uint8_t {
#define ADC_CLASS_Control(name) name = static_cast<uint8_t>(Op::name),
#include "ir/ops_by_class.def"
};
/// `op` as one of its class: In<VectorOp>(op).
template <typename Enum>
constexpr Enum In(Op op) {
  return static_cast<Enum>(op);
}

/// Whether the operation computes a scalar from scalars, after lowering.
constexpr bool IsScalarOperation(Op op) {
  OpClass op_class = ClassOf(op);
  return op_class == OpClass::Arithmetic || op_class == OpClass::Function || op_class == OpClass::Compare ||
         op_class == OpClass::Bits || op_class == OpClass::Convert;
}
/// An operation of scalars that goes element by element where operands are vectors or matrices.
constexpr bool IsElementwise(Op op) {
  return IsScalarOperation(op) || ClassOf(op) == OpClass::Composed;
}
constexpr bool IsAtomic(Op op) {
  return ClassOf(op) == OpClass::Atomic;
}
constexpr bool IsAccess(Op op) {
  return ClassOf(op) == OpClass::Access || ClassOf(op) == OpClass::Atomic;
}
constexpr bool IsTerminator(Op op) {
  return ClassOf(op) == OpClass::Terminator;
}
/// Ends a branch, and with it a loop, an iteration or a scope around it.
constexpr bool IsLeave(Op op) {
  return op == Op::Break || op == Op::Continue || op == Op::Exit;
}
constexpr bool IsCompare(Op op) {
  return ClassOf(op) == OpClass::Compare;
}
/// The comparison that holds exactly when `op` does not, for values without NaN.
Op Inverted(Op op);
/// The comparison with its operands exchanged.
Op Mirrored(Op op);
constexpr bool HasRegions(Op op) {
  return ClassOf(op) == OpClass::Control && op != Op::Call;
}

/// Result type of an operation whose rule determines it from its operands (arithmetic, comparison, select,
/// vectors). Empty where the operands do not fit the rule, or where the rule needs more than operand types
/// (cast, memory, control, mat.make without square count, identity).
std::optional<Type> ResultType(Op op, std::span<const Type> operands);

}  // namespace adc::ir

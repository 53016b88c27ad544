#pragma once
// Functions and kernels: dense tables of values, instructions and blocks, addressed by typed indices.
//
// Structured control owns its blocks as *regions*. A block has parameters (no phi nodes): the body of a `for`
// has the induction variable, then one parameter per carried value; the body block of a function has the
// function's parameters. Every region ends with a terminator (`yield`, `continue_if`, `return`; the printer
// leaves out those without operands where the text form has none).
//
//   for       operands lo, hi, step, init...; region 0 (iv, carried...) -> yield carried...; results carried
//   while     operands [max,] init...; region 0 (carried...) -> continue_if cond;
//             region 1 () sees region 0's values -> yield carried...; results = carried of the failing test
//   if        operand cond; regions then, else (both always present; each ends in yield)
//   parallel  operands lo, hi per axis; region 0 (iv per axis) -> yield; attr = block size or 0
//   parallel over  operand the layout parameter; attr = field; region 0 (iv per axis, i32) -> yield
//   call      operands = arguments; symbol = callee
//   accesses  operands base, index..., value...; index_count says how many indices
//   stack.push  operands stack, value [, slot]; stack.pop / top: stack [, slot]
//   row.load  operands row, slot; row.store: row, slot, value; attr = number of the stack
//   status.raise  of an overflow: operand the elements that would do; of a check: none, a word says which
//   kind
//
// Instructions are not deleted from the tables, only from their block; a rebuilt function is compact again.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diag/source.h"
#include "ir/op.h"
#include "ir/words.h"
#include "support/side_table.h"
#include "support/string_pool.h"

namespace adc::ir {

class Module;  // module.h NOLINT(bugprone-forward-declaration-namespace): LLVM has one of its own

struct ValueTag;
struct InstTag;
struct BlockTag;
using Value = Index<ValueTag>;
using Inst = Index<InstTag>;
using Block = Index<BlockTag>;

enum class ValueKind : uint8_t {
  Result,      ///< result `number` of instruction `owner`
  BlockParam,  ///< parameter `number` of block `owner`
  Constant,    ///< scalar literal; `owner` = position in the constant table
  Global,      ///< module constant (`@eps`, `@w`); `owner` = position in Module::constants
};

struct ValueData {
  Type type;
  ValueKind kind = ValueKind::Result;
  uint32_t number = 0;
  uint32_t owner = 0;
  StringId name;  ///< without '%'; invalid: the printer makes a number
};

/// A scalar literal. Integers are stored sign- or zero-extended to 64 bits after their type; i1 as 0 or 1;
/// floats as the bits of their own format (f16 and f32 in the low bits).
struct ConstantData {
  Type type;
  uint64_t bits = 0;
  StringId spelling;  ///< as the source wrote it first; invalid: the shortest form
};

inline constexpr uint32_t kNoAttr = UINT32_MAX;

/// The kind of check that a `status.raise` reports: empty where it is an overflow.
inline std::string_view CheckWord(Words words) {
  for (Word word : {Word::Access, Word::Assertion, Word::Promise}) {
    if (words.Has(word)) return Spelling(word);
  }
  return {};
}

struct InstData {
  Op op = Op::Yield;
  uint8_t index_count = 0;     ///< accesses: number of indices
  uint32_t first_operand = 0;  ///< in the operand pool
  uint32_t operand_count = 0;
  Value first_result;  ///< results are neighbours in the value table
  uint32_t result_count = 0;
  Block regions[2];
  Block parent;
  uint32_t attr = kNoAttr;  ///< access: field of a layout; shape: axis; parallel: block size; for: segment
                            ///< length of `checkpoint`, or the number of
                            ///< invocations that `apart` names; row.*: number of the group (claim) or of the
                            ///< stack; status.raise: task
  uint32_t component = kNoAttr;  ///< parallel: iterations side by side in lanes; for: turns at once; access:
                                 ///< component of a vector or matrix element; shape: field of a layout;
                                 ///< status.raise: stack, or number of the check; stack.new: the
                                 ///< parameter of saved values that it lies in
  StringId symbol;               ///< call: callee; assert, print: text
  Words words;                   ///< of words.def
  diag::SourceSpan span;

  bool Has(Word word) const { return words.Has(word); }
};

/// The facts that raising finds out about a `parallel` for the workers of a processor (raise/one_worker.h).
struct WorkerNumbers {
  uint32_t waking = 0;          ///< iterations that are worth waking a worker for; 0: data decide
  uint32_t copies = 0;          ///< bytes of copies that an iteration is worth
  std::vector<uint32_t> reach;  ///< along each axis, how far apart iterations meet; empty: not known
  friend bool operator==(const WorkerNumbers&, const WorkerNumbers&) = default;
};

struct BlockData {
  std::vector<Inst> insts;
  std::vector<Value> params;
  Inst owner;  ///< the instruction whose region this is; invalid for a body
};

/// Scratch, Segment and Trips are not given by callers: the loader makes, chooses or counts them.
enum class ParamRole : uint8_t {
  Plain,
  Adjoint,
  Tangent,
  Scratch,
  Segment,  ///< an i32: steps between two checkpoints of blocked loops, 0 for all of a loop's
  Trips,    ///< an i64: how often an axis of a `parallel` runs that no size expression bounds
  Saved,    ///< a buffer of the caller's that a kernel fills with values for its gradient, by iteration
};

struct ParamInfo {
  bool diff = false;
  bool readonly = false;
  bool alias = false;
  bool writeonce = false;  ///< as settled, and each element is written once
  bool save = false;  ///< values that its gradient reads are saved when read (autodiff/save_overwritten.h)
  bool inactive = false;  ///< left out of this compilation's derivatives, even if it is `diff`
  ParamRole role = ParamRole::Plain;
  bool settled = false;   ///< as disjoint, and no element is written after it was read
  bool disjoint = false;  ///< no iteration of a `parallel` accesses an element that another one writes
  bool checked = false;   ///< as disjoint, and each launch is checked for it before it runs
  bool if_read = false;   ///< an i32 that goes with the axis that it bounds where nothing reads either
  bool IsDisjoint() const { return disjoint || settled || writeonce || checked; }
  /// Adjoint or tangent: position of the primal parameter. Scratch: of the parameter whose shape it has.
  uint32_t companion_of = kNoAttr;
  uint32_t companion_field = kNoAttr;  ///< scratch with the shape of a layout's field: the field
  /// The caller gives it memory that other parameters have too, but no element of it is an element of theirs.
  bool interleaved = false;
  uint32_t shader_binding = kNoAttr;  ///< position in Module::shader_bindings
  uint32_t struct_words = kNoAttr;    ///< of a buffer: position in Module::structs, whose words it has
  diag::SourceSpan span = {};
};

enum class FunctionKind : uint8_t { Function, Kernel };
/// Size and Bounds: kernels that the compiler adds to count (counting/size_kernel.h,
/// counting/bounds_record.h). The last parameter of these takes the counts.
enum class KernelRole : uint8_t { Primal, Gradient, Tangent, Size, Bounds };
inline bool IsCounting(KernelRole role) {
  return role == KernelRole::Size || role == KernelRole::Bounds;
}

/// A comment on its own line: before an instruction, or at the end of a block.
struct Comment {
  Inst before;
  Block at_end_of;
  StringId text;  ///< with its leading slashes
};

class Function {
 public:
  Function(FunctionKind kind, StringId name);

  FunctionKind kind;
  StringId name;                   ///< without '@'
  std::vector<ParamInfo> params;   ///< one per parameter of the body block
  std::vector<Type> result_types;  ///< of a func
  StringId vjp, jvp, grad;         ///< derivatives that the user names
  KernelRole role = KernelRole::Primal;
  StringId derived_from;  ///< the primal of a derived kernel
  bool broken = false;    ///< its text had errors: fit for nothing but further checks of its signature
  diag::SourceSpan span;
  std::vector<Comment> comments;  ///< in textual order
  std::vector<StringId> leading_comments;
  std::map<Inst, WorkerNumbers> workers;  ///< of the `parallel` of raised modules

  bool IsKernel() const { return kind == FunctionKind::Kernel; }
  Block Body() const { return Block(0u); }
  std::span<const Value> Params() const { return (*this)[Body()].params; }

  const ValueData& operator[](Value v) const { return values_[v.raw]; }
  ValueData& operator[](Value v) { return values_[v.raw]; }
  const InstData& operator[](Inst i) const { return insts_[i.raw]; }
  InstData& operator[](Inst i) { return insts_[i.raw]; }
  const BlockData& operator[](Block b) const { return blocks_[b.raw]; }
  BlockData& operator[](Block b) { return blocks_[b.raw]; }

  Type TypeOf(Value v) const { return values_[v.raw].type; }
  std::span<const Value> Operands(Inst i) const {
    const InstData& d = insts_[i.raw];
    return {operand_pool_.data() + d.first_operand, d.operand_count};
  }
  Value Operand(Inst i, uint32_t n) const { return operand_pool_[insts_[i.raw].first_operand + n]; }
  void SetOperand(Inst i, uint32_t n, Value v) { operand_pool_[insts_[i.raw].first_operand + n] = v; }
  void SetOperands(Inst i, std::span<const Value> operands);
  Value Result(Inst i, uint32_t n = 0) const { return Value(insts_[i.raw].first_result.raw + n); }
  /// The indices of an access.
  std::span<const Value> Indices(Inst i) const { return Operands(i).subspan(1, insts_[i.raw].index_count); }
  /// The values of an access that follow its indices.
  std::span<const Value> AccessValues(Inst i) const {
    return Operands(i).subspan(1u + insts_[i.raw].index_count);
  }
  uint32_t RegionCount(Inst i) const {
    const InstData& d = insts_[i.raw];
    return d.regions[0].Valid() ? (d.regions[1].Valid() ? 2 : 1) : 0;
  }
  /// None where raising has found nothing.
  const WorkerNumbers& WorkersOf(Inst parallel) const {
    static const WorkerNumbers kNone;
    auto found = workers.find(parallel);
    return found == workers.end() ? kNone : found->second;
  }
  /// The instruction in whose region `inst` stands; invalid in the body of the function.
  Inst OwnerOf(Inst inst) const { return blocks_[insts_[inst.raw].parent.raw].owner; }
  /// The loop, parallel loop or scope that a `break`, `continue` or `exit` leaves.
  Inst TargetOf(Inst leave) const;
  /// The values that it leaves with.
  std::span<const Value> LeavingValues(Inst leave) const {
    return Operands(leave).subspan(insts_[leave.raw].op == Op::Exit && !IsUnreached(leave) ? 1 : 0);
  }
  /// An `exit` that names no scope: it ends a region whose end nothing reaches.
  bool IsUnreached(Inst end) const {
    const InstData& d = insts_[end.raw];
    return d.op == Op::Exit && d.operand_count == 0;
  }
  /// The instruction that defines `v`; invalid for parameters and constants.
  Inst DefiningInst(Value v) const {
    const ValueData& d = values_[v.raw];
    return d.kind == ValueKind::Result ? Inst(d.owner) : Inst();
  }
  /// The terminator of a block; invalid while the block is being built.
  Inst Terminator(Block b) const;
  /// The block in which `v` becomes available; the body for constants.
  Block DefiningBlock(Value v) const;

  /// `v` is one of the function's own parameters, not one of a region inside.
  bool IsParameter(Value v) const {
    const ValueData& d = values_[v.raw];
    return d.kind == ValueKind::BlockParam && Block(d.owner) == Body();
  }
  bool IsConstant(Value v) const { return values_[v.raw].kind == ValueKind::Constant; }
  const ConstantData& ConstantOf(Value v) const { return constants_[values_[v.raw].owner]; }
  /// The value of an integer constant, sign- or zero-extended after its type; empty for anything else.
  std::optional<int64_t> IntegerConstant(Value v) const;

  size_t ValueCount() const { return values_.size(); }
  size_t InstCount() const { return insts_.size(); }
  size_t BlockCount() const { return blocks_.size(); }

  /// The value of a scalar literal; one per type and bits (the first spelling stays).
  Value Constant(Type type, uint64_t bits, StringId spelling = {});
  /// The value that names module constant `position`.
  Value Global(uint32_t position, Type type);
  Block NewBlock(Inst owner = {});
  Value AddParam(Block block, Type type, StringId value_name = {});
  /// A kernel or function parameter: a parameter of the body block and its facts.
  Value AddParameter(Type type, StringId value_name, ParamInfo info);
  /// An instruction that is in no block yet.
  Inst NewInst(Op op, std::span<const Value> operands, std::span<const Type> results, diag::SourceSpan span);
  void Append(Block block, Inst inst);

 private:
  struct ConstantKey {
    Type type;
    uint64_t bits;
    friend bool operator==(const ConstantKey&, const ConstantKey&) = default;
  };
  struct ConstantKeyHash {
    size_t operator()(const ConstantKey& key) const noexcept;
  };

  std::vector<ValueData> values_;
  std::vector<InstData> insts_;
  std::vector<BlockData> blocks_;
  std::vector<Value> operand_pool_;
  std::vector<ConstantData> constants_;
  std::unordered_map<ConstantKey, Value, ConstantKeyHash> constant_ids_;
  std::unordered_map<uint32_t, Value> global_ids_;
};

}  // namespace adc::ir

// Arguments and shapes bound most loops by their own bounds:
//
//   parallel %i in 0..%n { for %j in 0..%i { ... } }        j < n - 1
//
// Where bounds are data, the accesses of the loop bound its index all the same. An element that it accesses
// exists:
//
//   parallel %e in 0..%n {
//     for %l in lo[%e]..hi[%e] {      l < shape(v, 0); and no other iteration has this l, since two that
//     store to
//       %a = load %v[%l]              one element would race
//       store %v[%l], (sin %a)
//     }
//   }
//
// So the number of the element is the number of the iteration, and the values of all %e take one buffer of
// the size of %v together. An element that is stored to need not be the one that is loaded: `load
// %v[parent[%l]]` beside `store %v[%l]` is saved in slot l too.
//
// A `for` whose elements other iterations share is not bounded so: its slots would be as many as the elements
// for each iteration of the `parallel`.

#include "autodiff/slot_bounds.h"

#include <algorithm>

#include "ir/op.h"
#include "ir/type.h"

namespace adc::autodiff {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// How deep the arithmetic of a bound is looked through.
constexpr uint32_t kBoundDepth = 8;

bool Widens(const Function& function, Inst inst) {
  return function[inst].op == Op::Cast && function.TypeOf(function.Result(inst)) == ir::kI64 &&
         function.TypeOf(function.Operand(inst, 0)) == ir::kI32;
}

enum class End : uint8_t { Most, Least };

bool IsBounded(const Function& function, Value v, End end, uint32_t depth) {
  if (IsFromArguments(function, v)) return true;
  if (depth == 0) return false;
  bool most = end == End::Most;
  if (ShiftedIndex shifted(function, v); shifted.index.Valid()) {
    IndexOf at(function, shifted.index);
    if (function[at.loop].op == Op::ParallelOver) return true;
    return IsBounded(function, function.Operand(at.loop, at.Low() + (most ? 1 : 0)), end, depth - 1);
  }
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid()) return false;
  auto bounded = [&](uint32_t n) { return IsBounded(function, function.Operand(inst, n), end, depth - 1); };
  Op op = function[inst].op;
  if (op == Op::Select) return bounded(1) && bounded(2);
  if (op == Op::Max) return most ? bounded(0) && bounded(1) : bounded(0) || bounded(1);
  if (op == Op::Min) return most ? bounded(0) || bounded(1) : bounded(0) && bounded(1);
  return Widens(function, inst) && bounded(0);
}

bool IsBuffer(const Function& function, Value base) {
  const ir::ValueData& data = function[base];
  return function.IsParameter(base) && data.type.IsBuffer() &&
         function.params[data.number].role == ir::ParamRole::Plain;
}

/// Whether `access`, at `index` along `axis`, is of an element that no other iteration of the `parallel`
/// accesses.
bool IsExclusive(const Function& function, const Activity& activity, Inst access, uint32_t axis) {
  if (function[access].op != Op::Store) return false;
  // A race of values with a derivative is reported (E0404). Others may all store one value to an element,
  // unless that is promised not to be.
  Value base = function.Operand(access, 0);
  const ir::ParamInfo& info = function.params[function[base].number];
  bool active = activity.ActiveMemory(base, ir::kNoAttr) && activity.Active(function.AccessValues(access)[0]);
  if (info.alias || !(info.IsDisjoint() || active)) return false;
  std::span<const Value> indices = function.Indices(access);
  for (uint32_t n = 0; n < indices.size(); ++n)
    if (n != axis && !function.IsConstant(indices[n])) return false;
  return true;
}

/// Whether another index of `access` is one of a `parallel`: its iterations have elements of their own.
bool IsOfIteration(const Function& function, Inst access) {
  return std::ranges::any_of(function.Indices(access), [&](Value index) {
    Inst loop = IndexOf(function, index).loop;
    return loop.Valid() && analysis::IsParallel(function[loop].op);
  });
}

}  // namespace

bool IsFromArguments(const Function& function, Value v) {
  if (function.IsConstant(v)) return true;
  const ir::ValueData& data = function[v];
  if (data.kind == ir::ValueKind::BlockParam) return Block(data.owner) == function.Body();
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid()) return false;
  if (function[inst].op == Op::Shape) return true;
  if (ir::InfoOf(function[inst].op).effect != ir::Effect::Pure || !data.type.IsInteger()) return false;
  std::span<const Value> operands = function.Operands(inst);
  return std::all_of(operands.begin(), operands.end(),
                     [&](Value one) { return IsFromArguments(function, one); });
}

bool HasMost(const Function& function, Value v) {
  return IsBounded(function, v, End::Most, kBoundDepth);
}

bool HasLeast(const Function& function, Value v) {
  return IsBounded(function, v, End::Least, kBoundDepth);
}

IndexOf::IndexOf(const Function& function, Value v) {
  const ir::ValueData& data = function[v];
  if (data.kind != ir::ValueKind::BlockParam || Block(data.owner) == function.Body()) return;
  Inst owner = function[Block(data.owner)].owner;
  bool is_index =
      analysis::IsParallel(function[owner].op) || (function[owner].op == Op::For && data.number == 0);
  if (!is_index) return;
  loop = owner;
  axis = data.number;
}

ShiftedIndex::ShiftedIndex(const Function& function, Value v) {
  if (IndexOf(function, v).loop.Valid()) {
    index = v;
    return;
  }
  Inst inst = function.DefiningInst(v);
  if (!inst.Valid() || (function[inst].op != Op::Add && function[inst].op != Op::Sub)) return;
  IndexOf of(function, function.Operand(inst, 0));
  std::optional<int64_t> by = function.IntegerConstant(function.Operand(inst, 1));
  if (!of.loop.Valid() || !by || *by == INT64_MIN) return;
  if (function[inst].op == Op::Sub) by = -*by;
  // An index is below a number of its type, and above what its loop begins at.
  bool is_next = *by == 1;
  bool from_zero = function[of.loop].op == Op::ParallelOver ||
                   function.IntegerConstant(function.Operand(of.loop, of.Low())).value_or(-1) >= 0;
  bool is_earlier = *by <= 0 && from_zero;
  if (!is_next && !is_earlier) return;
  index = function.Operand(inst, 0);
  shift = *by;
}

IndexedAxis AxisOfIndex(const Function& function, const Activity& activity, Inst site, Inst loop,
                        Value index) {
  bool is_for = function[loop].op == Op::For;
  Block last = function[loop].regions[0];
  for (Block block = function[site].parent;; block = function[function[block].owner].parent) {
    for (Inst inst : function[block].insts) {
      if (!ir::IsAccess(function[inst].op) || !IsBuffer(function, function.Operand(inst, 0))) continue;
      std::span<const Value> indices = function.Indices(inst);
      for (uint32_t axis = 0; axis < indices.size(); ++axis) {
        Inst made = function.DefiningInst(indices[axis]);
        bool is_cast = made.Valid() && Widens(function, made) && function.Operand(made, 0) == index;
        if (indices[axis] != index && !is_cast) continue;
        bool exclusive = is_for && IsExclusive(function, activity, inst, axis);
        if (!is_for || exclusive || IsOfIteration(function, inst))
          return {function.Operand(inst, 0), axis, exclusive};
      }
    }
    if (block == last) return {};
  }
}

}  // namespace adc::autodiff

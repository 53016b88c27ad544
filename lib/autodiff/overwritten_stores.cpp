#include "autodiff/overwritten_stores.h"

#include <algorithm>

#include "analysis/memory.h"
#include "autodiff/region_tree.h"

namespace adc::autodiff {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

class OverwriteFinder {
 public:
  explicit OverwriteFinder(const analysis::Structure& structure)
      : function_(structure.function()), structure_(structure), memory_(structure) {}

  bool MayOverwrite(Inst store) const {
    const ir::ValueData& base = function_[function_.Operand(store, 0)];
    bool is_parameter = function_.IsParameter(function_.Operand(store, 0));
    if (is_parameter && function_.params[base.number].writeonce) return false;
    std::span<const Inst> writes = memory_.Writes(memory_.ClassOf(store));
    // Beyond that the writes are not compared.
    constexpr size_t kMostWrites = 64;
    return writes.size() > kMostWrites || std::ranges::any_of(writes, [&](Inst other) {
             return function_[other].op == Op::Store && !DifferInConstant(store, other) &&
                    (RunsAfter(store, other) || RunsInLaterIteration(store, other));
           });
  }

 private:
  /// Whether `other` stands after `store`, and not in the other branch of an `if`.
  bool RunsAfter(Inst store, Inst other) const {
    if (structure_.Position(other) <= structure_.Position(store)) return false;
    for (Block block = function_[store].parent;;) {
      Inst owner = function_[block].owner;
      if (!owner.Valid()) return true;
      if (structure_.Contains(owner, other))
        return function_[owner].op != Op::If || structure_.Contains(block, other);
      block = function_[owner].parent;
    }
  }

  /// A serial loop around both runs it after `store`, which names the same element in all iterations.
  bool RunsInLaterIteration(Inst store, Inst other) const {
    return std::ranges::any_of(structure_.Enclosing(store), [&](Inst loop) {
      return IsSerialLoop(function_[loop].op) && structure_.Contains(loop, other) &&
             std::ranges::all_of(function_.Indices(store),
                                 [&](Value v) { return structure_.DefinedOutside(v, loop); });
    });
  }

  /// A component, or an index of one buffer, tells them apart.
  bool DifferInConstant(Inst a, Inst b) const {
    bool same_buffer = function_.Operand(a, 0) == function_.Operand(b, 0);
    return (same_buffer && function_[a].component != function_[b].component) ||
           DifferInConstantIndex(function_, a, b);
  }

  const Function& function_;
  const analysis::Structure& structure_;
  analysis::MemoryClasses memory_;
};

}  // namespace

bool DifferInConstantIndex(const Function& function, Inst a, Inst b) {
  if (function.Operand(a, 0) != function.Operand(b, 0)) return false;
  for (uint32_t axis = 0; axis < function[a].index_count; ++axis) {
    std::optional<int64_t> of_a = function.IntegerConstant(function.Indices(a)[axis]);
    std::optional<int64_t> of_b = function.IntegerConstant(function.Indices(b)[axis]);
    if (of_a && of_b && *of_a != *of_b) return true;
  }
  return false;
}

IndexSet<Inst> FindOverwrittenStores(const analysis::Structure& structure) {
  OverwriteFinder finder(structure);
  IndexSet<Inst> found;
  for (Inst inst : structure.Order())
    if (structure.function()[inst].op == Op::Store && finder.MayOverwrite(inst)) found.Insert(inst);
  return found;
}

}  // namespace adc::autodiff

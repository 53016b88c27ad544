#pragma once
// Which accesses can meet in one cell: within one iteration, across the iterations of a loop, and over the
// whole kernel. The ground that accumulation without atomics, refusal of overwritten reads, and forwarding of
// stores stand on. Every "true" is proved; "false" means "not proved".

#include "analysis/affine.h"
#include "analysis/memory.h"
#include "analysis/tasks.h"

namespace adc::analysis {

enum class Relation : uint8_t {
  Same,      ///< provably the same cell
  Distinct,  ///< provably different cells
  Unknown,
};

/// Facts about the accesses of one function. Made once; stale after the function is edited.
class AccessFacts {
 public:
  AccessFacts(const ir::Module& module, const ir::Function& function);

  const Structure& structure() const { return structure_; }
  const MemoryClasses& memory() const { return memory_; }
  AffineForms& forms() { return forms_; }

  /// Position in TasksOf of the task that holds `inst`; kNoAttr outside of every task (and in a func).
  uint32_t TaskOf(ir::Inst inst) const;

  /// The cells of two accesses for the *same values* of all SSA values: in one iteration of every loop around
  /// either. Accesses of different memory classes are Distinct; components of one element are too.
  Relation SameIteration(ir::Inst a, ir::Inst b);

  /// True when the cell of `a` in one iteration of `loop` (for, parallel, parallel over; it holds both) is
  /// never the cell of `b` in a different iteration of the same execution of `loop`, whatever the loops
  /// inside `loop` do. Values from outside of `loop` are the same in both. Not proved for `while`.
  bool DistinctAcross(ir::Inst loop, ir::Inst a, ir::Inst b);
  /// DistinctAcross(loop, a, a): no two iterations of `loop` touch one cell through `a`.
  bool InjectiveIn(ir::Inst loop, ir::Inst a) { return DistinctAcross(loop, a, a); }
  /// False when the cell that `read` reads provably does not change afterwards through `write`: not later in
  /// its iteration, not in a later iteration of a loop around both, not in another iteration of the parallel
  /// that holds both, not in a later task. Looks at cells, not at the values written. `writeonce` is not
  /// looked at.
  bool MayOverwriteLater(ir::Inst read, ir::Inst write);
  /// False when `write` in one iteration of the top-level parallel around both provably never touches the
  /// cell that `read` reads in a different one. False as well outside of a common parallel.
  bool MayRace(ir::Inst read, ir::Inst write);

  /// True when index number `axis` of the access provably lies inside its extent: a constant, or the index of
  /// a loop that runs from 0 (or a constant above) to that extent.
  bool InRange(ir::Inst access, uint32_t axis);
  /// InRange for every axis (true for rank 0).
  bool AllInRange(ir::Inst access);

 private:
  /// True when the cell of `read` in one iteration of `loop`, a `for`, is never the cell of `write` in a
  /// later one, as that of `y[t - 1]` where `y[t]` is written. Both stand in `loop`.
  bool BehindLater(ir::Inst loop, ir::Inst read, ir::Inst write);
  /// Some iterations of `loop` may pass by `access`, and others not.
  bool IsGated(ir::Inst loop, ir::Inst access) const;
  bool TuplesDistinct(ir::Inst loop, std::span<const ir::Value> a, std::span<const ir::Value> b, bool gated);
  void Decode(ir::Inst loop, ir::Value index_a, ir::Value index_b, bool gated,
              std::vector<ir::Value>& decoded);

  const ir::Module* module_;
  const ir::Function* function_;
  Structure structure_;
  MemoryClasses memory_;
  AffineForms forms_;
  std::vector<Task> tasks_;
};

}  // namespace adc::analysis

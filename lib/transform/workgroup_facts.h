#pragma once
// The facts of a workgroup's body about its values: which differ from invocation to invocation, and which are
// used in another piece of the body than the one that makes them.

#include <set>
#include <unordered_map>

#include "analysis/memory.h"
#include "diag/diagnostics.h"
#include "support/side_table.h"

namespace adc::transform {

/// Facts about one parallel loop that is marked `workgroup`. Its body consists of *pieces*: a piece is a row
/// of statements between two barriers, or between a barrier and the begin or end of a region that holds one.
/// Const once made; stale after the function is edited.
class WorkgroupFacts {
 public:
  /// Reports (E0306) barriers that some invocations may not come to.
  WorkgroupFacts(const ir::Function& function, ir::Inst loop, diag::Diagnostics& diagnostics);

  bool good() const { return good_; }
  uint32_t Size() const { return size_; }
  /// The number of the invocation.
  ir::Value Invocation() const { return invocation_; }
  bool HasBarrier(ir::Inst inst) const { return with_barrier_.Has(inst); }
  /// Invocations may have different values.
  bool Varies(ir::Value v) const { return varying_.Has(v); }
  /// A statement that has one result for all invocations and no effect: the workgroup executes it once.
  bool RunsOnce(ir::Inst inst) const;
  /// A value inside of `control`, or a result of it, that can be computed before this branch: made of values
  /// from outside by pure operations and choices.
  bool IsComputedBefore(ir::Value v, ir::Inst control) const;
  /// A value of integers that follows from the number of the invocation: each piece computes it again.
  bool IsRecomputed(ir::Value v) const;
  /// A value that varies, and that another piece uses than the one that makes it.
  bool Crosses(ir::Value v) const { return crossing_.Has(v); }

 private:
  void FindBarriers();
  void NumberBlock(ir::Block block);
  void NumberInside(ir::Inst inst);
  bool Spread(ir::Block block, bool is_guarded);
  bool SpreadControl(ir::Inst inst, bool is_guarded);
  bool SpreadCarried(ir::Inst loop, bool all);
  bool MakeVarying(ir::Value v) { return varying_.Insert(v); }
  bool AnyVaries(std::span<const ir::Value> values) const;
  bool IsAlike(ir::Inst inst) const;
  bool DecisionVaries(ir::Inst control) const;
  void Check(ir::Block block, bool is_tail);
  void CheckTest(ir::Inst loop);
  void FindCrossing();
  void Error(ir::Inst around, const char* text, const char* help);

  const ir::Function& function_;
  diag::Diagnostics& diagnostics_;
  analysis::Structure structure_;
  analysis::MemoryClasses memory_;
  ir::Inst loop_;
  ir::Value invocation_;
  uint32_t size_ = 1;
  bool good_ = true;
  IndexSet<ir::Inst> with_barrier_;
  IndexSet<ir::Value> varying_, crossing_;
  IndexSet<ir::Inst> guarded_;              ///< loads that some invocations may not execute
  SideTable<ir::Inst, uint32_t> piece_of_;  ///< of what stands in the body
  std::vector<std::set<uint32_t>> writes_;  ///< by piece: classes of memory
  mutable std::unordered_map<uint32_t, bool> recomputed_;
};

}  // namespace adc::transform

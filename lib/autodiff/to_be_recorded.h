#pragma once
// The primal values that the adjoint sweep reads, their sources, and those that are taped.

#include <unordered_map>
#include <unordered_set>

#include "autodiff/adjoint_work.h"
#include "autodiff/final_values.h"
#include "autodiff/restore.h"
#include "autodiff/stored.h"

namespace adc::autodiff {

/// The plan of a kernel's forward slices. See to_be_recorded.cpp for the notions.
class RecordingPlan {
 public:
  RecordingPlan(const ir::Function& function, const RegionTree& tree, const AdjointWork& work,
                bool reread_stored);

  /// `v` is provided by the primal sweep of the unit that defines it.
  bool ToBeRecorded(ir::Value v) const { return to_be_recorded_.Has(v); }
  /// `v` is read by the adjoint sweep (or by a nested unit): not only by other to-be-recorded values.
  bool Direct(ir::Value v) const { return direct_.Has(v); }
  /// `v`, defined inside `root`, is computed while `root` runs forward in the primal sweep of its unit.
  bool Forward(ir::Inst root, ir::Value v) const {
    auto found = forward_.find(root.raw);
    return found != forward_.end() && found->second.contains(v.raw);
  }
  /// The primal sweep of the unit around `control` runs it forward.
  bool RunsForward(ir::Inst control) const { return runs_forward_.Has(control); }
  /// The values that a `for` or `while` pushes in each iteration, in program order.
  const std::vector<ir::Value>& Tape(ir::Inst loop) const;
  /// Carried values that a reversed loop undoes, instead of taking them from the tape.
  const std::vector<Restore>& Restores(ir::Inst loop) const { return restores_.Get(loop); }
  /// A store (or atomic) to a replayed array (one whose contents the adjoint sweep reads), or control that
  /// holds one of an array made outside of it, that the unit around `inst` replays and takes back.
  bool WritesReplayedArray(ir::Inst inst) const { return !replayed_here_.Get(inst).empty(); }
  /// Whether a forward run of `root`, by the unit around it, replays what it writes to an array made outside.
  bool Replays(ir::Inst root, ir::Value array) const;
  /// The replayed arrays, made outside of `inst`, that `inst` writes.
  const std::vector<ir::Value>& OuterArrays(ir::Inst inst) const { return outer_arrays_.Get(inst); }
  /// A scratch buffer whose contents the adjoint sweep reads: the tasks that fill it run forward first, as
  /// part of the root kWholeKernel.
  bool RefilledScratch(ir::Value param) const { return refilled_scratch_.Has(param); }
  /// The store whose cell the adjoint sweep reads for `v`, instead of computing it; or invalid.
  ir::Inst StoreOf(ir::Value v) const {
    ir::Inst lasting = stored_.Of(v);
    return lasting.Valid() ? lasting : filling_.Get(v);
  }
  /// The same for forward runs too, which may be what fills a local array.
  ir::Inst LastingStoreOf(ir::Value v) const { return stored_.Of(v); }
  /// The store that keeps the contents of a buffer after `reader` (FinalRead), where the adjoint sweep reads
  /// that, and not the buffer itself; or invalid.
  ir::Inst FinalOf(ir::Inst reader, ir::Value base, uint32_t component) const {
    return finals_.Of(reader, base, component);
  }
  /// Loads that the derived kernel executes again, for the check that they read what the primal read.
  bool Reloaded(ir::Inst load) const { return reloaded_.Has(load); }

 private:
  struct Closure;
  void FindReplayedArrays();
  std::vector<ir::Value> MarkArrayWrites(ir::Inst inst);
  void FindFilledArrays();
  void FindFillingStores(ir::Inst loop, ir::Value array);
  void PlanUnit(ir::Block unit);
  void PlanScratch();
  void Close(Closure& closure);
  void CloseWorklist(Closure& closure);
  void Need(Closure& closure, ir::Value v);
  void NeedForward(Closure& closure, ir::Inst root, ir::Value v);
  void ExpandRecorded(Closure& closure, ir::Value v);
  void ExpandForward(Closure& closure, ir::Inst root, ir::Value v);
  void NeedArrayWrites(Closure& closure, ir::Inst root, ir::Inst inst, std::span<const ir::Value> arrays);
  void NeedTapeUndo(Closure& closure, ir::Inst loop);
  std::vector<ir::Value> ChooseTape(const Closure& closure,
                                    const std::unordered_set<uint32_t>& restored) const;
  void PlanRestoresOf(Closure& closure);
  void Commit(Closure& closure);

  const ir::Function& function_;
  const RegionTree& tree_;
  const AdjointWork& work_;
  StoredValues stored_;
  FinalValues finals_;
  IndexSet<ir::Value> to_be_recorded_, direct_, replayed_arrays_, refilled_scratch_;
  IndexSet<ir::Inst> runs_forward_, reloaded_;
  std::unordered_map<uint32_t, std::unordered_set<uint32_t>> forward_;
  SideTable<ir::Inst, std::vector<ir::Value>> outer_arrays_;
  SideTable<ir::Value, ir::Inst> filling_;  ///< the store of a filled local array that keeps a value
  SideTable<ir::Inst, std::vector<ir::Value>> replayed_here_;  ///< of these, by the unit around
  SideTable<ir::Inst, std::vector<ir::Value>> tape_;
  SideTable<ir::Inst, std::vector<Restore>> restores_;
  SideTable<ir::Block, std::vector<ir::Value>> pending_;  ///< direct needs of units nested in a unit
};

/// How the array writes of a loop are undone before an iteration is reversed.
struct UndoPlan {
  /// Stores (and atomics) to replayed arrays from outside the loop, at the top level of its body: old values
  /// are pushed one by one.
  std::vector<ir::Inst> stores;
  /// Arrays written deeper inside the body: the whole array is pushed at the start of each iteration.
  std::vector<ir::Value> snapshots;
  /// Of a loop whose turns are apart: the whole array is pushed once, before the loop. No turn reads what
  /// another one has written, so that each finds what it read.
  std::vector<ir::Value> before;

  bool Empty() const { return stores.empty() && snapshots.empty() && before.empty(); }
};
UndoPlan PlanUndo(const ir::Function& function, const RegionTree& tree, const RecordingPlan& plan,
                  ir::Inst loop);

}  // namespace adc::autodiff

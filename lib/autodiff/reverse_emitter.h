#pragma once
// The emission of a reverse kernel. One class over several files, one idea each:
//   reverse.cpp                tasks, in reverse order
//   reverse_forward.cpp        the first step of a unit: the primal sweep
//   reverse_forward_loop.cpp   the first step: loops, their tapes and checkpoints
//   reverse_widen.cpp          the first step: branches that run forward once for two units
//   reverse_control.cpp        the second step: branches and loops
//   reverse_rules.cpp          the second step: arithmetic, vectors, calls
//   reverse_memory.cpp         the second step: buffers and parameters
//   reverse_arrays.cpp         local arrays: replay, undo, adjoint arrays
//
// Notation: "primal" values belong to the kernel that is differentiated, everything else to the kernel that
// is built. `At(v)` is the built value that holds what primal value `v` held.

#include <functional>
#include <map>

#include "analysis/tasks.h"
#include "autodiff/derived.h"
#include "autodiff/needed.h"
#include "autodiff/reverse.h"
#include "transform/block_loops.h"
#include "transform/folding_builder.h"

namespace adc::autodiff {

class ReverseEmitter {
 public:
  ReverseEmitter(ir::Module& module, const ir::Function& primal, const ReverseConfig& config,
                 diag::Diagnostics& diagnostics, const RegionTree& tree, const Activity& activity,
                 const AdjointWork& work, const NeededPlan& plan, const transform::StepLoops& steps,
                 DerivedKernel derived, ScopedMap values);
  /// False after an error.
  bool Run();

 private:
  /// In which roles a stretch of code is emitted forward: as the first step of its own unit, as part of the
  /// forward run of each root, or both at once.
  struct Mode {
    bool first_step = false;
    std::vector<ir::Inst> roots;
    uint32_t widened = 0;  ///< branches around, up to the unit whose first step it is
  };
  /// A value pushed in each iteration of a loop.
  struct TapeEntry {
    ir::Value value;
    ir::Value stack;
  };
  struct UndoStacks {
    /// Per store: index stack (may be invalid), old value.
    std::vector<std::pair<ir::Value, ir::Value>> stores;
    std::vector<ir::Value> snapshots;
  };
  /// The loop over steps that a forward run leaves out in the segment where `where` holds.
  struct SkippedSteps {
    ir::Inst loop;
    ir::Value where;
  };
  /// The loop over steps whose tape the forward run of `segments` has filled where `is_last` holds.
  struct FilledSteps {
    ir::Inst loop, segments;
    ir::Value is_last;
  };
  struct Tape {
    std::vector<TapeEntry> entries;
    UndoPlan undo;
    UndoStacks undo_stacks;
  };

  /// A loop that runs forward.
  struct ForwardLoop {
    ir::Inst built;
    std::vector<uint32_t> carried;  ///< of the primal's carried values
    bool as_root = false;           ///< it belongs to the unit whose first step this is
    bool fills_tape = false;
    bool fills_last = false;  ///< over segments: the tape of the last one stays
    bool filled = false;      ///< over steps: the last segment's tape is there
    bool counted = false;     ///< a `while` that carries the number of its iterations
    ir::Value counter;

    bool CountsLast() const { return fills_last && counted; }
  };
  /// What each branch hands out to the adjoint sweep, by primal value or AuxKey, and the result of each.
  struct HandedOut {
    std::vector<uint32_t> keys[2], results[2];
  };

  // Tasks.
  void ReverseTask(const analysis::Task& task);
  void RefillScratch(std::span<const analysis::Task> tasks);

  // First step.
  bool Wanted(const Mode& mode, ir::Value v) const;
  void EmitForward(std::span<const ir::Inst> insts, const Mode& mode);
  void EmitForwardInst(ir::Inst inst, const Mode& mode);
  void EmitForwardLoop(ir::Inst inst, const Mode& mode);
  ir::Inst MakeForwardLoop(ir::Inst inst, const ForwardLoop& run, std::span<const ir::Value> initial);
  /// Names what the iterations of `run` begin with, and emits a condition.
  void EnterForwardLoop(ir::Inst inst, ForwardLoop& run, const Mode& inner);
  void PushAtEntry(ir::Inst inst, const ForwardLoop& run);
  void TakeResults(ir::Inst inst, const ForwardLoop& run);
  /// The loop over the steps of a segment where `loop` runs over segments; invalid for every other loop.
  ir::Inst StepsOf(ir::Inst loop) const { return steps_.Get(loop); }
  /// `loop` runs over segments to tape checkpoints alone: after the last one nothing is read.
  bool EndsAtLastCheckpoint(ir::Inst loop, const Mode& mode) const;
  /// `loop` runs over segments to its end, and the tape of the last one stays.
  bool FillsLastSegment(ir::Inst loop, const Mode& mode) const;
  /// The result of `segments` that is result `k` of its loop over steps in the last segment; invalid where
  /// none is available.
  ir::Value AfterLast(ir::Inst segments, uint32_t k) const;
  /// The parameter that says how long segments are; invalid where none does.
  ir::Value SegmentParam() const;
  /// `v`, in the block of `loop`, is or may depend on a result of it.
  bool ComesFrom(ir::Value v, ir::Inst loop) const;
  /// In the built loop: this is its last iteration.
  ir::Value IsLast(ir::Inst loop);
  /// The launch wants whole tapes, one segment per loop.
  ir::Value WholeTape();
  bool ControlRuns(ir::Inst inst, const Mode& mode) const;
  void EmitForwardIf(ir::Inst inst, const Mode& mode);
  bool Widens(ir::Inst branch, const Mode& mode) const;
  /// `wanted` are the results that the branch has anyway, `types` those of all; what is handed out adds its
  /// own.
  HandedOut PlanHandedOut(ir::Inst branch, const Mode& inner, const std::vector<uint32_t>& wanted,
                          std::vector<ir::Type>& types) const;
  std::vector<uint32_t> KeysToHandOut(ir::Block side, ir::Inst branch, const Mode& inner) const;
  void CollectExports(ir::Block unit, const Mode& mode, std::vector<uint32_t>& keys) const;
  /// How many operations make `v`, defined inside `branch`, again from what is available around the branch
  /// and from what is handed out of it; more than `limit` where that is no way.
  uint32_t RecomputeCost(ir::Value v, ir::Inst branch, const std::unordered_set<uint32_t>& handed_out,
                         uint32_t limit) const;
  /// A load whose memory the adjoint sweep finds unchanged.
  bool Reloadable(ir::Inst inst) const;
  void HoistStorage(ir::Block unit, const Mode& mode);
  void MakeTape(ir::Inst loop);
  void CloneForward(ir::Inst inst);
  /// Reads what a store has left of `v`.
  void LoadStored(ir::Value v);
  void PushIfTaped(ir::Value v);

  // Second step.
  void ReverseUnit(ir::Block unit, bool first_step_done);
  void ReverseInsts(std::span<const ir::Inst> insts);
  void ReverseInst(ir::Inst inst);
  void ReverseIf(ir::Inst inst);
  void ReverseLoop(ir::Inst inst);
  ir::Value UndoUpdate(ir::Inst loop, const Restore& restore, ir::Value state);
  void ReverseParallel(const analysis::Task& task);
  void ReverseArithmetic(ir::Inst inst);
  void ReverseVector(ir::Inst inst);
  void ReverseCall(ir::Inst inst);
  void ReverseInPlace(ir::Inst inst, const ir::Function& adjoint);
  void ReverseAccess(ir::Inst inst);
  void ReverseAtomicExtremum(ir::Inst inst, ir::Value memory, const std::vector<ir::Value>& indices);
  void FlushParameters();
  void PlanHeldUpdates();
  bool IsSteps(ir::Inst loop) const;
  void FlushHeldUpdates(ir::Inst loop);
  ir::Value Assemble(ir::Type type, std::span<const ir::Value> components);
  ir::Value Component(ir::Value v, uint32_t component);

  // Local arrays.
  void EmitForwardArrayWrite(ir::Inst inst, const Mode& mode);
  void PushUndo(ir::Inst loop);
  void PopUndo(ir::Inst loop, ir::Value slot);
  void RestoreArrayWrite(ir::Inst inst);
  ir::Value SnapshotSlot(ir::Value array, ir::Value iteration, ir::Value index, uint32_t component);
  void MakeAdjointArrays(std::span<const ir::Inst> insts);
  void ForEachElement(ir::Value array, const std::function<void(ir::Value index, uint32_t component)>& body);

  // Values and adjoints.
  ir::Value At(ir::Value v);
  bool AtHand(ir::Value v) const;
  std::vector<ir::Value> AtAll(std::span<const ir::Value> values);
  uint32_t SlotOf(ir::Value v, uint32_t component = 0) const;
  uint32_t SlotCount(ir::Value v) const;
  ir::Type SlotType(uint32_t slot) const;
  /// The adjoint of a slot so far; invalid while it is zero.
  ir::Value Adjoint(uint32_t slot) const { return adjoints_.Get(slot); }
  ir::Value AdjointOrZero(uint32_t slot);
  /// The adjoint of a scalar value, taken: what defines it has nothing more to add.
  ir::Value AdjointOf(ir::Value v) const { return Adjoint(SlotOf(v)); }
  void Accumulate(ir::Value v, ir::Value contribution, uint32_t component = 0);
  void AccumulateSlot(uint32_t slot, ir::Value contribution);
  /// The slots outside of `inst` to which its reverse may contribute, ascending.
  std::vector<uint32_t> OuterSlots(ir::Inst inst) const;
  void CollectSlots(ir::Inst inst, ir::Inst outer, std::vector<uint32_t>& slots) const;
  bool IsZero(ir::Value v) const;
  uint32_t AuxKey(ir::Inst inst) const;
  ir::Value IterationSlot(ir::Inst loop, ir::Value index);
  void Refuse(diag::ErrorId id, ir::Inst inst, std::string text, std::string help);
  /// Refuses the kernel because nothing provides `what`, made at `place`. Gives a value of the type to go on
  /// with.
  ir::Value Unavailable(diag::SourceSpan place, const std::string& what, ir::Type type);

  ir::Module& module_;
  const ir::Function& primal_;
  const ReverseConfig& config_;
  diag::Diagnostics& diagnostics_;
  const RegionTree& tree_;
  const Activity& activity_;
  const AdjointWork& work_;
  const NeededPlan& plan_;
  const transform::StepLoops& steps_;
  ir::Function& built_;
  std::vector<ir::Value> companions_;
  transform::FoldingBuilder builder_;
  NameGiver names_;
  ScopedMap values_;                   ///< primal value, or AuxKey of an instruction -> built value
  ScopedMap adjoints_;                 ///< slot -> built value
  ScopedMap adjoint_arrays_;           ///< local array -> its adjoint array
  std::vector<uint32_t> vector_slot_;  ///< first slot of a vector or matrix value
  std::vector<ir::Type> extra_slot_types_;
  SideTable<ir::Value, uint32_t> parameter_number_;  ///< plus one
  std::map<ir::Inst, Tape> tapes_;                   ///< of loops whose forward run is emitted
  /// Pushes that are due when a value is emitted, while a taped loop is emitted forward.
  std::map<ir::Value, std::vector<ir::Value>> due_pushes_;
  std::map<ir::Inst, std::pair<ir::Value, ir::Value>> due_undo_;  ///< the same for stores to arrays
  ir::Value push_slot_;
  SkippedSteps skipped_steps_;
  ir::Inst filling_steps_;         ///< the loop over steps whose tape the forward run over segments fills
  IndexSet<ir::Inst> fills_last_;  ///< loops over segments whose forward run has
  std::map<ir::Inst, ir::Value> last_trips_;  ///< such a `while` -> iterations of its last segment
  FilledSteps filled_steps_;
  IndexSet<ir::Inst> widened_;  ///< branches whose first step ran with their forward run
  /// Loads whose adjoint is summed in a register over a loop that does not change their address: their slot,
  /// and the loads of each outermost such loop.
  std::map<ir::Inst, uint32_t> held_slot_;
  std::map<ir::Inst, std::vector<ir::Inst>> held_in_;
  std::map<ir::Inst, ir::Inst> held_until_;  ///< load -> that loop
  bool failed_ = false;
};

}  // namespace adc::autodiff

#pragma once
// The primal sweep of each unit: the slice of the primal that the adjoint sweep reads, and the tapes that it
// fills. One class over several files, one idea each:
//   primal_sweep.cpp         which instructions run
//   primal_sweep_loop.cpp    loops, their tapes and checkpoints
//   primal_sweep_branch.cpp  branches that run forward once for two units
//   primal_sweep_arrays.cpp  local arrays: replayed stores, and what they overwrote

#include <map>
#include <unordered_set>

#include "analysis/tasks.h"
#include "autodiff/sweep.h"
#include "autodiff/tape.h"

namespace adc::autodiff {

class PrimalSweep : public Sweep {
 public:
  explicit PrimalSweep(ReverseKernel& kernel) : Sweep(kernel) {}

  /// Fills the scratch buffers whose contents the adjoint sweep reads.
  void RefillScratch(std::span<const analysis::Task> tasks);
  /// The primal sweep of a unit, whose instructions these are.
  void EmitUnit(std::span<const ir::Inst> insts);

  /// The primal sweep of the branch's own units ran with its forward run.
  bool IsWidened(ir::Inst branch) const { return widened_.Has(branch); }
  /// Of a loop that ran forward in the primal sweep of its unit; null for others.
  const Tape* TapeOf(ir::Inst loop) const;
  /// `loop` runs over segments, and its forward run has filled the tape of the last one.
  bool FillsLast(ir::Inst loop) const { return fills_last_.Has(loop); }
  /// From here on the tape of `filled` is there in one segment. Gives what held before.
  FilledSteps EnterFilled(FilledSteps filled) { return std::exchange(filled_steps_, filled); }

 private:
  /// In which roles a stretch of code is emitted: as the primal sweep of its own unit, as part of the forward
  /// run of each root, or both at once.
  struct Mode {
    bool own_unit = false;
    std::vector<ir::Inst> roots;
    uint32_t widened = 0;  ///< branches around, up to the unit whose primal sweep it is
  };
  /// The loop over steps that a forward run leaves out in the segment where `where` holds.
  struct SkippedSteps {
    ir::Inst loop;
    ir::Value where;
  };
  /// A loop that runs forward.
  struct ForwardLoop {
    ir::Inst built;
    std::vector<uint32_t> carried;  ///< of the primal's carried values
    bool as_root = false;           ///< it belongs to the unit whose primal sweep this is
    bool fills_tape = false;
    bool fills_last = false;  ///< over segments: the tape of the last one stays
    bool filled = false;      ///< over steps: the last segment's tape is there
    bool counted = false;     ///< a `while` that carries the number of its iterations
    ir::Value counter;

    bool CountsLast() const { return fills_last && counted; }
  };
  /// The values that each branch hands out to the adjoint sweep, by primal value or AuxKey, and the result of
  /// each.
  struct HandedOut {
    std::vector<uint32_t> keys[2], results[2];
  };

  bool Wanted(const Mode& mode, ir::Value v) const;
  void Emit(std::span<const ir::Inst> insts, const Mode& mode);
  void EmitInst(ir::Inst inst, const Mode& mode);
  /// Whether `v` is read where the kernel, or a forward run, has left it.
  bool IsReread(const Mode& mode, ir::Value v) const;
  bool ControlRuns(ir::Inst inst, const Mode& mode) const;
  void PushIfTaped(ir::Value v);

  // Loops.
  void EmitLoop(ir::Inst inst, const Mode& mode);
  ir::Inst MakeLoop(ir::Inst inst, const ForwardLoop& run, std::span<const ir::Value> initial);
  /// Names what the iterations of `run` begin with, and emits a condition.
  void EnterLoop(ir::Inst inst, ForwardLoop& run, const Mode& inner);
  void PushAtEntry(ir::Inst inst, const ForwardLoop& run);
  void TakeResults(ir::Inst inst, const ForwardLoop& run);
  void MakeTape(ir::Inst loop);
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
  /// The launch wants whole tapes, one segment per loop.
  ir::Value WholeTape();

  // Branches.
  void EmitIf(ir::Inst inst, const Mode& mode);
  bool Widens(ir::Inst branch, const Mode& mode) const;
  /// `wanted` are the results that the branch has anyway, `types` those of all; the values that are handed
  /// out add their own.
  HandedOut PlanHandedOut(ir::Inst branch, const Mode& inner, const std::vector<uint32_t>& wanted,
                          std::vector<ir::Type>& types) const;
  std::vector<uint32_t> KeysToHandOut(ir::Block side, ir::Inst branch, const Mode& inner) const;
  void CollectExports(ir::Block unit, const Mode& mode, std::vector<uint32_t>& keys) const;
  /// How many operations make `v`, defined inside `branch`, again from what is available around the branch
  /// and from what is handed out of it; more than `limit` where that is no way.
  uint32_t RecomputeCost(ir::Value v, ir::Inst branch, const std::unordered_set<uint32_t>& handed_out,
                         uint32_t limit) const;
  void HoistStorage(ir::Block unit, const Mode& mode);

  // Local arrays.
  void EmitArrayWrite(ir::Inst inst, const Mode& mode);
  void PushUndo(ir::Inst loop);
  /// Pushes all elements of `array`, as those of an iteration.
  void PushSnapshot(ir::Value array, ir::Value stack, ir::Value iteration);

  std::map<ir::Inst, Tape> tapes_;  ///< of loops whose forward run is emitted
  /// Pushes that are due when a value is emitted, while a taped loop is emitted forward.
  std::map<ir::Value, std::vector<ir::Value>> due_pushes_;
  std::map<ir::Inst, std::pair<ir::Value, ir::Value>> due_undo_;  ///< the same for stores to arrays
  ir::Value push_slot_;
  SkippedSteps skipped_steps_;
  ir::Inst filling_steps_;         ///< the loop over steps whose tape the forward run over segments fills
  IndexSet<ir::Inst> fills_last_;  ///< loops over segments whose forward run has
  std::map<ir::Inst, ir::Value> last_trips_;  ///< such a `while` -> iterations of its last segment
  FilledSteps filled_steps_;
  IndexSet<ir::Inst> widened_;
};

}  // namespace adc::autodiff

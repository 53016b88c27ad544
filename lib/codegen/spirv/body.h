#pragma once
// The body of a task, or of a function, as SPIR-V: structured control becomes structured constructs.
//
//   for %i in lo..hi carry(%a = %x) {...}   header: i = phi(lo, i + 1), a = phi(x, yielded)
//                                                   OpLoopMerge end next; i < hi ? body : end
//                                           body:   ...
//                                           next:   back to header
//                                           end:    the result is a
//
// The header of a loop has one OpPhi per carried value and one for its counter, and the place where the ways
// of an `if` meet has one per result; there are no others, but for states.
//
// States are values that some instruction inside of control flow changes and a later one needs, without being
// carried by the IR: the row that a thread has claimed, the value of a sum. Loops and branches that change
// one carry it.
//
// With FloatMode::Contract a product that one sum alone reads is not emitted, and the sum becomes an fma.
// The values that decide about control flow are computed as they are written, in every mode
// (raise/decisions.h).
//
// Requires: a lowered kernel that CanGenerate has let pass, or a function of scalars without memory.

#include <optional>

#include "analysis/uses.h"
#include "codegen/spirv/debug_places.h"
#include "codegen/spirv/in_step.h"
#include "codegen/spirv/memory.h"
#include "codegen/spirv/narrow_loops.h"
#include "codegen/spirv/rows.h"
#include "codegen/spirv/sums.h"

namespace adc::codegen::spirv {

/// The parts that a kernel's body needs beyond those of a function's.
struct KernelParts {
  Environment& environment;
  MemoryEmitter& memory;
  RowEmitter& rows;
  StatusReporter& status;
  SumEmitter& sums;
  const InStep& in_step;
  DebugPlaces* places = nullptr;  ///< where lines are to be said
};

class BodyEmitter {
 public:
  BodyEmitter(const ir::Function& function, FunctionBuilder& builder, ScalarEmitter& scalars,
              ValueTable& values, KernelParts* kernel);

  /// Emits the instructions [first, last) of `block`.
  void EmitRange(ir::Block block, uint32_t first, uint32_t last);
  /// Emits a block up to its terminator.
  void EmitBlock(ir::Block block);
  /// Whether the parallel loop's threads are in step.
  bool IsInStep() const { return kernel_ != nullptr && kernel_->in_step.Any(); }
  /// Emits the block of a parallel loop whose threads are in step, of which those with `active` have an
  /// iteration.
  void EmitBlockInStep(ir::Block block, Id active);

  /// How the threads of a workgroup share the turns of as many iterations as a subgroup has lanes
  /// (common/wave_teams.h). No subgroup has threads of two shares.
  struct Shares {
    Id has = 0;     ///< whether the thread has an iteration
    Id lane = 0;    ///< which of them; 32 bits
    Id number = 0;  ///< of its share; 32 bits
    uint32_t lanes = 0, count = 0;
  };
  /// Emits the block of a parallel loop whose iteration `size` threads run together (raise/teams.h); with
  /// `shares` as many iterations as these have lanes.
  void EmitTeam(ir::Block block, uint32_t size, const Shares* shares = nullptr);
  /// Whether the code of a task may have shares: where control flow in a turn were in step, threads of two
  /// shares would go different ways in it.
  bool MayShare(ir::Inst parallel) const;
  /// Memory of the workgroup for sums of a team.
  uint32_t SharedBytes() const { return shared_bytes_; }

  /// The states that `inst` and its regions change.
  const std::vector<uint32_t>& StatesOf(ir::Inst inst) const { return changes_.Get(inst); }
  Id State(uint32_t number) const { return states_[number]; }
  void SetState(uint32_t number, Id value) { states_[number] = value; }
  Id StateType(uint32_t number) const { return state_types_[number]; }
  /// After all iterations, where threads meet: adds each sum to its cell.
  void UpdateCells();

 private:
  uint32_t NewState(Id type, Id initial);
  void FindStates(ir::Inst inst);
  void EmitInst(ir::Inst inst);
  // Of threads in step (body_in_step.cpp).
  void EmitRangeInStep(ir::Block block, uint32_t first, uint32_t last);
  /// Instructions that are not in step: the threads that are active run them.
  void EmitActive(std::span<const ir::Inst> run);
  /// Values of the instructions `run` that others read.
  std::vector<ir::Value> LeavingOf(std::span<const ir::Inst> run) const;
  void EmitIfInStep(ir::Inst inst);
  // Of a team (body_team.cpp).
  void EmitInTeam(ir::Block block, uint32_t first, uint32_t last);
  void EmitByFirst(std::span<const ir::Inst> writes);
  void EmitCommonArray(ir::Inst array);
  void EmitApart(ir::Inst inst);
  std::vector<Id> EmitShare(ir::Inst inst, std::span<const ir::Scalar> scalars);
  std::vector<Id> EmitTurnsApart(ir::Inst inst, std::span<const ir::Scalar> scalars);
  void Meet();
  template <class Turn>
  void EmitTurns(Id low, Id high, uint32_t width, Turn turn, std::span<OpenPhi> sums = {},
                 std::span<const ir::Scalar> scalars = {});
  Id SumsOf(Id type);
  Id SumOverTeam(ir::Scalar scalar, Id mine);
  Id SumOverShares(ir::Scalar scalar, Id mine);
  /// Sums into neighbouring components of an element, from `position` on; the position after them.
  uint32_t EmitSums(ir::Block block, uint32_t position, uint32_t last);
  std::vector<ir::Inst> SumsFrom(ir::Block block, uint32_t position, uint32_t last) const;
  // Of sums by turns (body_turns.cpp).
  struct HeldTurns;
  bool HoldsTurns(ir::Inst loop) const;
  bool CanHoldTurns(ir::Inst loop) const;
  void EmitForByTurns(ir::Inst loop);
  std::vector<Id> EmitByTurns(ir::Inst loop, std::span<const Id> starts);
  Id TurnOf(const HeldTurns& held, Id number, uint32_t copies);
  uint32_t CopiesOf(ir::Inst loop) const;
  void CountThreads(HeldTurns& held);
  Id MayExchange(const HeldTurns& held, uint32_t copies);
  void FindElements(HeldTurns& held);
  Id CounterAt(const HeldTurns& held, Id number);
  void EmitRounds(HeldTurns& held, Id first, Id end, uint32_t copies);
  void EmitOneTurn(HeldTurns& held, Id number);
  void EmitCopies(HeldTurns& held, Id number, uint32_t copies);
  void EmitCopy(HeldTurns& held, Id number, std::vector<std::vector<Id>>& runs, std::vector<Id>& carried);
  void HoldSums(std::span<const ir::Inst> sums);
  void FlushTurns(HeldTurns& held, Id may);
  /// Says where what follows comes from.
  void SetPlace(diag::SourceSpan place);
  void EmitPure(ir::Inst inst);
  /// Whether the sum that reads the value of `product` makes it a part of an fma.
  bool IsTakenIn(ir::Inst product) const;
  /// The sum `inst` as an fma; false, and nothing emitted, where it has no product to take in.
  bool EmitContracted(ir::Inst inst);
  /// Emits an instruction that touches memory, rows or the status block, or reads a parameter.
  void EmitKernelInst(ir::Inst inst);
  void EmitFor(ir::Inst inst);
  /// A bound of a `for`, in the bits of its counter.
  Id BoundOf(ir::Value bound, uint32_t width);
  /// How many trips a `for` has, as wide as its counter.
  Id TripsOf(ir::Inst loop);
  void EmitWhile(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitParameterComponent(ir::Inst inst);
  std::vector<Id> Yielded(ir::Block block);
  Id TypeOf(ir::Value v) { return scalars_.RegisterType(function_.TypeOf(v).scalar); }
  /// Makes the phis of the states that the loop `inst` changes, and closes them.
  std::vector<OpenPhi> OpenStates(ir::Inst inst, const LoopLabels& loop);
  void CloseStates(ir::Inst inst, const LoopLabels& loop, const std::vector<OpenPhi>& open);

  const ir::Function& function_;
  FunctionBuilder& f_;
  ModuleBuilder& m_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  KernelParts* kernel_;
  std::optional<analysis::Uses> uses_;  ///< where threads are in step
  std::optional<NarrowLoops> narrow_;   ///< where they are not
  Id active_ = 0;              ///< in step: whether this thread takes part; 0: threads are not in step
  HeldTurns* held_ = nullptr;  ///< of the loop right around
  uint32_t team_ = 0;  ///< threads that run the iteration together, around loops that are apart; 0 elsewhere
  const Shares* shares_ = nullptr;  ///< where they run several
  bool enters_met_ =
      false;  ///< the team has met where the block that comes next begins, and touched nothing since
  std::map<Id, Id> team_sums_;  ///< where threads of a team leave sums, by type
  uint32_t shared_bytes_ = 0;
  std::vector<Id> states_, state_types_;
  std::map<uint32_t, uint32_t> gate_states_;  ///< claim group with a gate -> state
  std::vector<uint32_t> sum_states_;          ///< by sum: its total
  std::vector<uint32_t> touch_states_;        ///< by sum: whether it has been touched; ir::kNoAttr: no state
  SideTable<ir::Inst, std::vector<uint32_t>> changes_;
};

}  // namespace adc::codegen::spirv

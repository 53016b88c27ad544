#pragma once
// The adjoint sweep: the primal's instructions last to first, each with its updates of adjoints. One class
// over several files, one idea each:
//   adjoint_sweep.cpp          tasks, units, branches and loops
//   adjoint_sweep_rules.cpp    arithmetic, vectors, calls
//   adjoint_sweep_memory.cpp   buffers and parameters
//   adjoint_sweep_arrays.cpp   local arrays: adjoint arrays, and stores taken back

#include "analysis/tasks.h"
#include "autodiff/adjoints.h"
#include "autodiff/outer_slots.h"
#include "autodiff/primal_sweep.h"
#include "autodiff/strong_zero.h"
#include "autodiff/structural_zeros.h"
#include "autodiff/sweep.h"

namespace adc::autodiff {

class AdjointSweep : public Sweep {
 public:
  /// Calls `primal_sweep` for each unit before its adjoint sweep.
  AdjointSweep(ReverseKernel& kernel, PrimalSweep& primal_sweep);

  /// Emits both sweeps of a task of the primal.
  void ReverseTask(const analysis::Task& task);

 private:
  void ReverseParallel(const analysis::Task& task);
  void ReverseUnit(ir::Block unit, bool primal_sweep_done);
  void ReverseInsts(std::span<const ir::Inst> insts);
  void ReverseInst(ir::Inst inst);
  void ReverseStructure(ir::Inst inst);
  void ReverseOnSide(ir::Inst inst, uint32_t side);
  void ReverseIf(ir::Inst inst);
  void ReverseLoop(ir::Inst inst);
  bool CollectCarried(ir::Inst loop, std::vector<uint32_t>* carried, std::vector<ir::Value>* initial);
  ir::Inst MakeReversed(ir::Inst inst, std::span<const ir::Value> initial);
  void PopTape(ir::Inst loop, ir::Value index);
  ir::Value UndoUpdate(ir::Inst loop, const Restore& restore, ir::Value state);
  void ReverseArithmetic(ir::Inst inst);
  void ReverseSelection(ir::Inst inst, ir::Value g);
  /// The side that an operand lies on, in the block of what reads it. Where it is made outside of the block,
  /// nothing leads to it through the block but where its side is taken.
  uint32_t SideFrom(ir::Inst user, ir::Value operand) const;
  /// An adjoint that goes from one side of selections to another around it: 0 where it is not selected.
  ir::Value Leave(ir::Value g, uint32_t from, uint32_t to);
  /// The condition that has to be true, or else false, for a side to be taken where the one around it is
  /// taken; for `from` to be taken where `to` is.
  std::pair<ir::Value, bool> ConditionOf(const SelectedSide& side);
  std::pair<ir::Value, bool> ConditionOf(uint32_t from, uint32_t to);
  void ReverseVector(ir::Inst inst);
  void ReverseCall(ir::Inst inst);
  void ReverseInPlace(ir::Inst inst, const ir::Function& adjoint);
  std::vector<ir::Value> CallInPlace(ir::Inst inst, const ir::Function& adjoint,
                                     std::vector<ir::Value> operands);
  void ReverseAccess(ir::Inst inst);
  void ReverseAtomicExtremum(ir::Inst inst, ir::Value memory, const std::vector<ir::Value>& indices);
  ir::Value FinalValue(ir::Inst inst, const std::vector<ir::Value>& indices);
  void FlushParameters();
  void FlushHeldUpdates(ir::Inst loop);

  // Local arrays.
  void MakeAdjointArrays(std::span<const ir::Inst> insts);
  void PopUndo(const Tape& tape, ir::Value slot);
  void PopSnapshot(ir::Value array, ir::Value stack, ir::Value iteration);
  void RestoreArrayWrite(ir::Inst inst);

  // Adjoints.
  /// The adjoint of a scalar value, taken: its definition has nothing more to add.
  ir::Value AdjointOf(ir::Value v) const { return adjoints_.Of(slots_.Of(v)); }
  void Accumulate(ir::Value v, ir::Value contribution, uint32_t component = 0);
  void AccumulateStrongly(ir::Value v, ir::Value product, StrongZero& zero);
  /// The adjoint of a parameter.
  ir::Value CompanionOf(ir::Value param) const { return companions_[primal_[param].number]; }

  PrimalSweep& primal_sweep_;
  AdjointSlots slots_;
  HeldUpdates held_;
  OuterSlots outer_;
  Adjoints adjoints_;
  StructuralZeros zeros_;
  ScopedMap adjoint_arrays_;  ///< local array -> its adjoint array
};

}  // namespace adc::autodiff

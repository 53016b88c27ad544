#pragma once
// The emission of a forward kernel: a copy of the primal with a tangent beside every varied float.

#include "analysis/tasks.h"
#include "autodiff/adjoint_slots.h"
#include "autodiff/emitter.h"
#include "autodiff/infinite_partials.h"
#include "autodiff/region_tree.h"

namespace adc::autodiff {

class ForwardEmitter : public Emitter {
 public:
  ForwardEmitter(DerivedBody& body, const Activity& activity, uint32_t directions);
  /// False after an error.
  bool Run();

 private:
  void EmitTask(const analysis::Task& task);
  void EmitWinners(const analysis::Task& task);
  void EmitWinner(ir::Inst inst, std::span<const ir::Value> indices);
  void LoadParameterTangents();
  void EmitBlock(ir::Block block);
  void EmitInst(ir::Inst inst);
  void EmitArithmetic(ir::Inst inst);
  void EmitVector(ir::Inst inst);
  void EmitCall(ir::Inst inst);
  void EmitAccess(ir::Inst inst);
  void EmitProduct(ir::Inst inst, std::span<const ir::Value> indices);
  void EmitExtremum(ir::Inst inst, std::span<const ir::Value> indices);
  void EmitMemoryTangent(ir::Inst inst, std::span<const ir::Value> indices);
  void EmitCallTangent(ir::Inst inst, const ir::Function& tangent);
  void EmitStackTangent(ir::Inst inst);
  /// Stores the tangents of `v` in the cell of `inst`, in a branch of their own, where `condition` holds.
  void StoreTangentsWhere(ir::Value condition, ir::Inst inst, std::span<const ir::Value> indices, ir::Value v,
                          ir::Op how);
  void EmitStack(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitLoop(ir::Inst inst);
  void EmitParallel(ir::Inst inst);

  /// Runs `emit` for one direction after another; members that concern tangents mean those of the current
  /// one.
  template <class Emit>
  void EachDirection(Emit emit) {
    for (direction_ = 0; direction_ < directions_; ++direction_) emit();
    direction_ = 0;
  }
  /// The same for each varied result of `inst`, by its number.
  template <class Emit>
  void EachVaried(ir::Inst inst, Emit emit) {
    EachDirection([&] {
      for (uint32_t n = 0; n < primal_[inst].result_count; ++n)
        if (activity_.Varied(primal_.Result(inst, n))) emit(n);
    });
  }
  /// The tangent memory of an access: the twin of an array, the companion of a parameter.
  ir::Value TangentMemory(ir::Value base) const;
  ir::Value Companion(size_t parameter) const {
    return companions_[direction_ * primal_.params.size() + parameter];
  }
  SideTable<ir::Value, ir::Value>& Twins() { return twins_[direction_]; }

  ir::Value Provide(ir::Value v) override;
  uint32_t SlotCount(ir::Value v) const { return slots_.CountOf(v); }
  size_t SlotOf(ir::Value v, uint32_t component) const {
    return size_t{direction_} * slots_.Count() + slots_.Of(v, component);
  }
  /// The tangent of a component; invalid where it is zero.
  ir::Value Tangent(ir::Value v, uint32_t component = 0) const;
  ir::Value TangentOrZero(ir::Value v, uint32_t component = 0);
  void SetTangent(ir::Value v, ir::Value tangent, uint32_t component = 0);
  /// Adds the tangents of all components.
  void AppendTangents(ir::Value v, std::vector<ir::Value>& tangents);
  /// The results of a branch or loop: those of the primal, then the tangents of the varied ones.
  void TakeResults(ir::Inst inst, ir::Inst built);
  /// Tangents of all components as one value of the type of `v`.
  ir::Value WholeTangent(ir::Value v);
  void SetWholeTangent(ir::Value v, ir::Value tangent);

  const Activity& activity_;
  uint32_t directions_;
  uint32_t direction_ = 0;
  AdjointSlots slots_;
  std::vector<ir::Value> tangents_;  ///< by direction and slot
  std::vector<SideTable<ir::Value, ir::Value>>
      twins_;                    ///< by direction: array or stack -> that of its tangents
  IndexSet<ir::Inst> infinite_;  ///< partials that a tangent of 0 is not multiplied by
  bool in_parallel_ = false;
  bool winners_ = false;  ///< the task is emitted again, for the tangents of its minima and maxima
};

}  // namespace adc::autodiff

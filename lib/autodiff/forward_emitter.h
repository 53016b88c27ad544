#pragma once
// The emission of a forward kernel: a copy of the primal with a tangent beside every varied float.

#include "analysis/tasks.h"
#include "autodiff/derived.h"
#include "autodiff/infinite_partials.h"
#include "autodiff/region_tree.h"
#include "diag/diagnostics.h"
#include "transform/folding_builder.h"

namespace adc::autodiff {

class ForwardEmitter {
 public:
  ForwardEmitter(ir::Module& module, const ir::Function& primal, diag::Diagnostics& diagnostics,
                 const Activity& activity, uint32_t directions, DerivedKernel derived, ScopedMap values);
  /// False after an error.
  bool Run();

 private:
  void EmitTask(const analysis::Task& task);
  void EmitWinners(const analysis::Task& task);
  void EmitWinner(ir::Inst inst, std::span<const ir::Value> indices);
  void LoadParameterTangents();
  void EmitBlock(ir::Block block);
  void EmitInst(ir::Inst inst);
  ir::Inst ClonePlain(ir::Inst inst);
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
  /// The tangent memory of an access: the twin of an array, the companion of a parameter.
  ir::Value TangentMemory(ir::Value base) const;
  ir::Value Companion(size_t parameter) const {
    return companions_[direction_ * primal_.params.size() + parameter];
  }
  SideTable<ir::Value, ir::Value>& Twins() { return twins_[direction_]; }

  ir::Value At(ir::Value v);
  std::vector<ir::Value> AtAll(std::span<const ir::Value> values);
  uint32_t SlotCount(ir::Value v) const { return primal_.TypeOf(v).Components(); }
  uint32_t SlotOf(ir::Value v, uint32_t component = 0) const;
  /// The tangent of a component; invalid where it is zero.
  ir::Value Tangent(ir::Value v, uint32_t component = 0) const;
  ir::Value TangentOrZero(ir::Value v, uint32_t component = 0);
  void SetTangent(ir::Value v, ir::Value tangent, uint32_t component = 0);
  /// Tangents of all components as one value of the type of `v`.
  ir::Value WholeTangent(ir::Value v);
  void SetWholeTangent(ir::Value v, ir::Value tangent);
  void Refuse(diag::ErrorId id, ir::Inst inst, std::string text, std::string help);

  ir::Module& module_;
  const ir::Function& primal_;
  diag::Diagnostics& diagnostics_;
  const Activity& activity_;
  ir::Function& built_;
  std::vector<ir::Value> companions_;
  transform::FoldingBuilder builder_;
  NameGiver names_;
  ScopedMap values_;
  uint32_t directions_;
  uint32_t direction_ = 0;
  uint32_t slots_ = 0;
  std::vector<ir::Value> tangents_;  ///< by direction and slot
  std::vector<uint32_t> vector_slot_;
  std::vector<SideTable<ir::Value, ir::Value>>
      twins_;  ///< by direction: array or stack -> that of its tangents
  SideTable<ir::Value, uint32_t> parameter_number_;
  IndexSet<ir::Inst> infinite_;  ///< partials that a tangent of 0 is not multiplied by
  bool in_parallel_ = false;
  bool winners_ = false;  ///< the task is emitted again, for the tangents of its minima and maxima
  bool failed_ = false;
};

}  // namespace adc::autodiff

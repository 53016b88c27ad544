#pragma once
// The emission of a forward kernel: a copy of the primal with a tangent beside every varied float.

#include "analysis/tasks.h"
#include "autodiff/derived.h"
#include "autodiff/region_tree.h"
#include "diag/diagnostics.h"
#include "transform/folding_builder.h"

namespace adc::autodiff {

class ForwardEmitter {
 public:
  ForwardEmitter(ir::Module& module, const ir::Function& primal, diag::Diagnostics& diagnostics,
                 const Activity& activity, DerivedKernel derived, ScopedMap values);
  /// False after an error.
  bool Run();

 private:
  void EmitTask(const analysis::Task& task);
  void EmitWinners(const analysis::Task& task);
  void EmitWinner(ir::Inst inst, ir::Value memory, std::span<const ir::Value> indices);
  void LoadParameterTangents();
  void EmitBlock(ir::Block block);
  void EmitInst(ir::Inst inst);
  ir::Inst ClonePlain(ir::Inst inst);
  void EmitArithmetic(ir::Inst inst);
  void EmitVector(ir::Inst inst);
  void EmitCall(ir::Inst inst);
  void EmitAccess(ir::Inst inst);
  void EmitExtremum(ir::Inst inst, ir::Value memory, std::span<const ir::Value> indices);
  void EmitStack(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitLoop(ir::Inst inst);
  void EmitParallel(ir::Inst inst);

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
  std::vector<ir::Value> tangents_;  ///< by slot
  std::vector<uint32_t> vector_slot_;
  SideTable<ir::Value, ir::Value> twins_;  ///< array or stack -> that of its tangents
  SideTable<ir::Value, uint32_t> parameter_number_;
  bool in_parallel_ = false;
  bool winners_ = false;  ///< the task is emitted again, for the tangents of its minima and maxima
  bool failed_ = false;
};

}  // namespace adc::autodiff

#pragma once
// The code of threads that are in step (in_step.h).

#include "analysis/uses.h"
#include "codegen/spirv/body_part.h"

namespace adc::codegen::spirv {

class StepEmitter : BodyPart {
 public:
  explicit StepEmitter(const BodyPart& part) : BodyPart(part), uses_(function_) {}

  /// Emits the block of a parallel loop of which the threads with `active` have an iteration.
  void EmitBlock(ir::Block block, Id active);
  /// Emits the instructions [first, last) of a block.
  void EmitRange(ir::Block block, uint32_t first, uint32_t last);

 private:
  /// Instructions that are not in step: the threads that are active run them.
  void EmitActive(std::span<const ir::Inst> run);
  /// Values of the instructions `run` that others read.
  std::vector<ir::Value> LeavingOf(std::span<const ir::Inst> run) const;
  void EmitIf(ir::Inst inst);
  /// Sums into neighbouring components of an element, from `position` on; the position after them.
  uint32_t EmitSums(ir::Block block, uint32_t position, uint32_t last);

  analysis::Uses uses_;
};

}  // namespace adc::codegen::spirv

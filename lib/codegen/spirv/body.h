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
// With FloatMode::Contract a product that one sum alone reads is not emitted, and the sum becomes an fma.
// The values that decide about control flow are computed as they are written, in every mode
// (raise/decisions.h).
//
// Requires: a lowered kernel that CanGenerate has let pass, or a function of scalars without memory.

#include <optional>

#include "codegen/spirv/body_in_step.h"
#include "codegen/spirv/body_team.h"
#include "codegen/spirv/narrow_loops.h"

namespace adc::codegen::spirv {

class BodyEmitter : BodyPart {
 public:
  BodyEmitter(const ir::Function& function, FunctionBuilder& builder, ScalarEmitter& scalars,
              ValueTable& values, KernelParts* kernel);

  /// Emits the instructions [first, last) of `block`.
  void EmitRange(ir::Block block, uint32_t first, uint32_t last);
  /// Emits a block up to its terminator.
  void EmitBlock(ir::Block block);
  void EmitInst(ir::Inst inst);
  /// The values with which a block ends.
  std::vector<Id> Yielded(ir::Block block);
  /// Whether 32 bits hold the counter of a `for` of 64.
  bool CountsInWords(ir::Inst loop) const { return narrow_ && narrow_->Has(loop); }
  /// A bound of a `for`, in the bits of its counter.
  Id BoundOf(ir::Value bound, uint32_t width);
  /// How many trips a `for` has, as wide as its counter.
  Id TripsOf(ir::Inst loop);
  /// Whether the sum that reads the value of `product` makes it a part of an fma.
  bool IsTakenIn(ir::Inst product) const;

  States& states() { return states_; }
  TeamEmitter& team() { return team_; }
  /// Null where the parallel loop's threads are not in step.
  StepEmitter* in_step() { return in_step_ ? &*in_step_ : nullptr; }

 private:
  /// Says where what follows comes from.
  void SetPlace(diag::SourceSpan place);
  void EmitPure(ir::Inst inst);
  /// The sum `inst` as an fma; false, and nothing emitted, where it has no product to take in.
  bool EmitContracted(ir::Inst inst);
  /// Emits an instruction that touches memory, rows or the status block, or reads a parameter.
  void EmitKernelInst(ir::Inst inst);
  void EmitFor(ir::Inst inst);
  void EmitWhile(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitParameterComponent(ir::Inst inst);

  States own_states_;
  ThreadMode own_mode_;
  TeamEmitter team_;
  std::optional<StepEmitter> in_step_;
  std::optional<NarrowLoops> narrow_;  ///< where threads are not in step
};

}  // namespace adc::codegen::spirv

#pragma once
// What the emitters of a body share: its function, the ids of values, states, and how threads run the code.

#include "codegen/spirv/states.h"

namespace adc::codegen::spirv {

class BodyEmitter;
class HeldTurns;

/// How the threads of a workgroup share the turns of as many iterations as a subgroup has lanes
/// (common/wave_teams.h). No subgroup has threads of two shares.
struct Shares {
  Id has = 0;     ///< whether the thread has an iteration
  Id lane = 0;    ///< which of them; 32 bits
  Id number = 0;  ///< of its share; 32 bits
  uint32_t lanes = 0, count = 0;
};

/// How threads run the code that is being emitted.
struct ThreadMode {
  Id active = 0;              ///< in step: whether this thread takes part; 0: threads are not in step
  HeldTurns* held = nullptr;  ///< of the loop right around
  uint32_t team = 0;  ///< threads that run the iteration together, around loops that are apart; 0 elsewhere
  const Shares* shares = nullptr;  ///< where they run several
};

class BodyPart {
 protected:
  BodyPart(BodyEmitter& body, const ir::Function& function, FunctionBuilder& builder, ScalarEmitter& scalars,
           ValueTable& values, KernelParts* kernel, States& states, ThreadMode& mode)
      : body_(body),
        function_(function),
        f_(builder),
        m_(builder.module()),
        scalars_(scalars),
        values_(values),
        kernel_(kernel),
        states_(states),
        mode_(mode) {}

  Id TypeOf(ir::Value v) { return scalars_.RegisterType(function_.TypeOf(v).scalar); }

  BodyEmitter& body_;
  const ir::Function& function_;
  FunctionBuilder& f_;
  ModuleBuilder& m_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  KernelParts* kernel_;
  States& states_;
  ThreadMode& mode_;
};

}  // namespace adc::codegen::spirv

#pragma once
// The passes between the verifier and differentiation, in order.

#include "transform/pass.h"

namespace adc::transform {

struct ShapeConfig {
  FoldConfig fold = {};
  /// Limit of inlining and unrolling, in instructions of one kernel.
  uint32_t instruction_limit = 2'000'000;
  PassObserver observer;
};

/// Brings a verified module into the form that differentiation reads (Phase::Scalar): calls of functions
/// without derivatives of their own inlined, marked loops unrolled, only scalars in registers, local arrays
/// with constant indices in registers, everything simplified, tasks that stand on their own.
///
/// Runs, each under the observer: exits, inline, unroll, guard-tasks, scalarise, mem2reg,
/// sink-singular, simplify, isolate-tasks, sink-singular, simplify.
/// False after errors (E03xx). True with the phase advanced, or, where the observer stopped the sequence,
/// with the phase as it was.
bool ShapeForDifferentiation(ir::Module& module, const ShapeConfig& config, diag::Diagnostics& diagnostics);

}  // namespace adc::transform

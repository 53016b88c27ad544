#pragma once
// Folding, common subexpressions, invariant code motion, store-to-load forwarding, control that is decided,
// and dead code: in one walk, repeated until nothing changes, four times at most.

#include "transform/pass.h"

namespace adc::transform {

struct SimplifyConfig {
  FoldConfig fold = {};
  uint32_t rounds = 4;
  /// The function will be differentiated in reverse mode: a float whose derivative may be infinite or NaN
  /// somewhere is not computed where the function as it stands would not compute it. Its adjoint would be 0
  /// there, and 0 times that is NaN.
  bool before_reverse = false;
};

/// Simplifies one function. Linear time and size per round.
///
/// - Arithmetic folds (FoldingBuilder) and is computed once per scope that needs it.
/// - Pure arithmetic leaves loops and `parallel` for the innermost block that sees its operands; out of a
///   parallel it goes to the prologue of its task. Before reverse mode, an operation that could give a
///   derivative that is not finite leaves only a loop that provably runs it. Loads leave loops that do not
///   write their memory, where they run at least once or their index provably lies in range. Nothing moves or
///   is shared between tasks.
/// - A load after a store (or load) of provably the same cell, with nothing between that may touch it, is
/// that
///   value. Memory that other threads write in the meantime would be a race.
/// - `if` with a known condition, loops with no or one iteration, carried values that never change or change
///   by a loop-invariant integer (`k0 + t*step`), results that agree in both branches: gone. A branch is
///   never made a select.
/// - Dead code goes, carried values and results one by one. A loop without effects goes too; a `while`
/// without
///   `max` only in a size kernel, which repeats what the launch does.
/// - Scalar module constants and constant elements of constant arrays become literals.
///
/// Works on any phase, before and after differentiation. The reference stays good; values, instructions and
/// blocks are numbered anew.
void SimplifyFunction(ir::Module& module, ir::Function& function, const SimplifyConfig& config);

/// SimplifyFunction on every function.
///
/// Requires: a verified module.
/// Guarantees: the same results bit by bit (with FloatRules::Fast: up to signs of zeros, infinities and NaN).
/// Breaks: comments inside functions are dropped.
bool Simplify(ir::Module& module, const SimplifyConfig& config, diag::Diagnostics& diagnostics);

}  // namespace adc::transform

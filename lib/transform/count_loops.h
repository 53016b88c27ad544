#pragma once
// Loops that count, however they are written, become `for`.

#include "transform/pass.h"

namespace adc::transform {

struct CountLoopsConfig {
  FoldConfig fold = {};
};

/// Replaces each `while` whose condition compares a carried integer, which grows or falls by a constant in
/// every iteration, with a bound that the loop does not change, by the `for` that runs as often. Where
/// something else has to hold as well, the loop becomes a `while max` of what is left of its condition.
///
/// Requires: no exits. Finds more in simplified functions.
/// Guarantees: a loop that ends runs as often as before, also where its counter wraps on the way; the others
/// stay. A loop that would never end for some bound may end for it, but not before something else ends it.
/// Breaks: nothing. The counter is computed from the index, and carried only where it is read after the loop.
void CountLoops(ir::Module& module, const CountLoopsConfig& config);

}  // namespace adc::transform

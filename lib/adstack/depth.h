#pragma once
// How deep a counted adstack gets.

#include "adstack/bounds.h"
#include "adstack/stacks.h"

namespace adc::adstack {

/// The largest number of values that the stack holds at once, over all iterations; kNoNode where no
/// expression says it. Never too small; exact where pushes and pops balance by the same trip counts and
/// conditions. `*loose` is set where a launch may stay well below.
NodeId DeepestFill(const ir::Function& kernel, const StackFacts& stack, Bounds& bounds, bool* loose);

}  // namespace adc::adstack

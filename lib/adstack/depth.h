#pragma once
// How deep a counted adstack gets.

#include "adstack/stacks.h"
#include "sizing/bounds.h"

namespace adc::adstack {

using artifact::NodeId;

/// The largest number of values that the stack holds at once, over all iterations; kNoNode where no
/// expression says it. Never too small; exact where pushes and pops balance by the same trip counts and
/// conditions. `*loose` is set where a launch may stay well below.
NodeId DeepestFill(const ir::Function& kernel, const StackFacts& stack, sizing::Bounds& bounds, bool* loose);

}  // namespace adc::adstack

#pragma once
// The cost of running the iterations between two checkpoints once more, against the cost of their tape.

#include "adstack/plan.h"
#include "ir/function.h"

namespace adc::adstack {

/// Sets TaskPlan::cheap_replay of the tasks of `kernel`, whose stacks are planned.
void FindCheapReplays(const ir::Function& kernel, AdstackPlan& plan);

}  // namespace adc::adstack

#pragma once
// Plans that serve another one: of kernels that the compiler wrote to count what a launch will do.

#include "core/launch.h"

namespace adrt {

/// Gives the plan of a counting kernel the data of the one that it serves. Nothing is bound.
void SetUpServing(const adrt_launch_plan& served, const adrt_kernel* kernel, adrt_launch_plan& plan);

/// Gives it the served plan's arguments, in their order: all of them for a size kernel, the plain ones for a
/// bounds kernel. Takes memory the first time alone. False where that is refused.
bool BindServing(const adrt_launch_plan& served, adrt_launch_plan& plan);

/// Gives it a buffer of its own: parameter `index`, of rank 1.
void BindOwn(adrt_launch_plan& plan, uint32_t index, const Place& place, uint64_t elements);

}  // namespace adrt

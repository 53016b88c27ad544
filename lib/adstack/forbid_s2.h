#pragma once
// --forbid-s2: the sizes of a launch must follow from scalar arguments and shapes alone.

#include "adstack/plan.h"

namespace adc::adstack {

/// Reports (E0504), once for each loop that fills stacks, the sizes of a finished plan that only device data
/// give: capacities that read buffers or that a size kernel would count, and extents of parallel loops of
/// that kind. Gates are none of it: without counted rows a launch takes the worst case.
void ForbidDeviceData(const ir::Module& module, const ir::Function& kernel, const AdstackPlan& plan,
                      diag::Diagnostics& diagnostics);

}  // namespace adc::adstack

#pragma once
// A bundle that was merged of several has kernels whose code lies under different targets: no target has code
// for all of them. A module is then a chain of parts, each with the code of one target, and a plan takes the
// part that has its kernel's. The first part is what the caller holds.

#include "core/handles.h"

namespace adrt {

/// The targets that modules of `bundle` for `device` have, as bits: `first`, and for each kernel without code
/// for those before the best one with code for it. `confined`: among targets that the device may run
/// unverified.
uint64_t TargetsToLoad(const adrt_device& device, const adrt_bundle& bundle, bool confined, uint32_t first);

/// The part of `module` that has code for `kernel`; `module` itself where none has.
adrt_module* PartFor(adrt_module& module, const artifact::KernelMeta& kernel);

}  // namespace adrt

#pragma once
// Keeps an unverified SPIR-V module, on a device with robust buffer access, inside the buffers that a launch
// binds. docs/security.md says what that guarantees.

#include "core/handles.h"

namespace adrt::vulkan {

/// Checks the module of `module`'s target and its entries: no device addresses and no capability, instruction
/// or kind of memory but those that bound code needs; no writes to memory that is only read; all memory that
/// an entry reaches is among its bindings. `words` get bounds for every index (clamp.h). False:
/// ADRT_ERROR_UNTRUSTED with what was found, and the offset in the code. Takes time and memory of the
/// module's size.
bool Confine(const adrt_module& module, Vector<uint32_t>* words, adrt_error* error);

}  // namespace adrt::vulkan

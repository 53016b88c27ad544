#pragma once
// Reading by other libraries, within the limits of a compilation (docs/limits.md).

#include <functional>
#include <string>

#include "driver/options.h"

namespace adc::driver {

/// Runs `read`, which reads `input` with the help of `reader` ("Clang"). Where that takes more time, memory
/// or depth than the limits allow, the process ends with an error: nothing stops such a library half-way.
void ReadBounded(const std::string& reader, const std::string& input, const CompileOptions& options,
                 const std::function<void()>& read);

}  // namespace adc::driver

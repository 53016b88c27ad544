#pragma once
// The needs of a launch, as JSON: `adc size --json` prints it, `adc report` has it in its page.

#include "json_output.h"
#include "launch_sizes.h"

namespace adc::tool {

/// One object; figures that depend on options that were not given are null.
Json LaunchSizesJson(const LaunchSizes& sizes);

}  // namespace adc::tool

#pragma once
// The derivatives that are asked for, as words.

#include <string>
#include <string_view>

#include "driver/options.h"

namespace adc::driver {

/// Reads `grad`, `jvp`, `jvp:4`, `jvp(grad)`, `jvp:4(grad)` or `none`, several with commas. An empty text, or
/// what the list takes instead.
std::string TakeDerive(std::string_view list, Derivations* derive);

}  // namespace adc::driver

#pragma once
// The version of the compiler.

#include <string_view>

namespace adc::driver {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace adc::driver

#pragma once
// The version of the compiler.

#include <string>
#include <string_view>

namespace adc::product {

inline constexpr std::string_view kVersion = "0.1.0";

/// "adc 0.1.0"
std::string ProducerName();

}  // namespace adc::product

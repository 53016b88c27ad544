#pragma once
// The dependency file that build systems read: the inputs of an output, as a rule for make.

#include <span>
#include <string>
#include <string_view>

namespace adc::product {

/// "target: first second\n", with spaces, '#', '$' and backslashes quoted as make and Ninja want them, then
/// an empty rule per dependency, so that a deleted import does not break the next build.
std::string DepfileText(std::string_view target, std::span<const std::string> dependencies);

}  // namespace adc::product

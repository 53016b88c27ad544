#pragma once
// Which lines differ between two texts, as `diff -u` prints them.

#include <string>
#include <string_view>

namespace adc::tool {

/// A unified difference with three lines of context, without the two lines of names at its head; empty for
/// equal texts. The shortest one (Myers, "An O(ND) Difference Algorithm", 1986) up to 2,000 lines that
/// differ; beyond, the lines between the first and the last difference are replaced as a whole.
std::string UnifiedDifference(std::string_view first, std::string_view second);

}  // namespace adc::tool

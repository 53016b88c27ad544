#pragma once
// "Did you mean": the nearest of a list of names.

#include <span>
#include <string_view>

namespace adc::driver {

/// Single-letter insertions, deletions, replacements and swaps of neighbours that turn one name into the
/// other.
uint32_t EditDistance(std::string_view left, std::string_view right);

/// The candidate that is nearest to `name`, the earliest on a tie; empty where none is near enough to be what
/// was meant (a third of the letters may differ, and at most four).
std::string_view Nearest(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace adc::driver

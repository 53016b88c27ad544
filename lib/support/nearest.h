#pragma once
// "Did you mean": the nearest of a list of names.

#include <span>
#include <string_view>

namespace adc {

/// The candidate that the fewest single-letter insertions, deletions, replacements and swaps of neighbours
/// turn `name` into, the earliest on a tie; empty where none is near enough to be what was meant (a third of
/// the letters may differ, at most three).
std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace adc

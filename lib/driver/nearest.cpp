#include "driver/nearest.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace adc::driver {

uint32_t EditDistance(std::string_view left, std::string_view right) {
  // Rows of the table for the two previous prefixes of `left` and the current one.
  std::vector<uint32_t> before(right.size() + 1), previous(right.size() + 1), current(right.size() + 1);
  for (size_t column = 0; column <= right.size(); ++column) previous[column] = static_cast<uint32_t>(column);
  for (size_t row = 1; row <= left.size(); ++row) {
    current[0] = static_cast<uint32_t>(row);
    for (size_t column = 1; column <= right.size(); ++column) {
      uint32_t replaced = previous[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1);
      current[column] = std::min({replaced, previous[column] + 1, current[column - 1] + 1});
      bool swapped =
          row > 1 && column > 1 && left[row - 1] == right[column - 2] && left[row - 2] == right[column - 1];
      if (swapped) current[column] = std::min(current[column], before[column - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[right.size()];
}

std::string_view Nearest(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr size_t kLongestName = 64;
  if (name.size() > kLongestName) return {};
  auto best_distance = static_cast<uint32_t>(std::clamp<size_t>(name.size() / 3, 1, 4)) + 1;
  std::string_view best;
  for (std::string_view candidate : candidates) {
    uint32_t distance = EditDistance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace adc::driver

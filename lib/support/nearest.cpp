#include "support/nearest.h"

#include <algorithm>
#include <array>

namespace adc {
namespace {

constexpr size_t kLongest = 64;

using Row = std::array<size_t, kLongest + 1>;

/// Insertions, deletions, replacements and swaps of neighbours between two names of at most kLongest letters
/// (the "optimal string alignment" distance), or `limit + 1` where they are more than `limit`.
size_t Distance(std::string_view left, std::string_view right, size_t limit) {
  size_t difference = left.size() > right.size() ? left.size() - right.size() : right.size() - left.size();
  if (difference > limit) return limit + 1;
  Row before{}, last{}, row{};
  for (size_t n = 0; n <= right.size(); ++n) row[n] = n;
  for (size_t l = 1; l <= left.size(); ++l) {
    before = last;
    last = row;
    row[0] = l;
    size_t best = l;
    for (size_t r = 1; r <= right.size(); ++r) {
      size_t replaced = last[r - 1] + (left[l - 1] == right[r - 1] ? 0 : 1);
      row[r] = std::min({replaced, last[r] + 1, row[r - 1] + 1});
      bool swapped = l > 1 && r > 1 && left[l - 1] == right[r - 2] && left[l - 2] == right[r - 1];
      if (swapped) row[r] = std::min(row[r], before[r - 2] + 1);
      best = std::min(best, row[r]);
    }
    // A swap reaches over one row.
    if (best > limit && *std::min_element(last.begin(), last.begin() + right.size() + 1) > limit)
      return limit + 1;
  }
  return row[right.size()];
}

}  // namespace

std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.empty() || name.size() > kLongest) return {};
  size_t limit = std::min<size_t>(3, std::max<size_t>(1, name.size() / 3));
  std::string_view nearest;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > kLongest || candidate == name) continue;
    size_t distance = Distance(name, candidate, limit);
    if (distance > limit) continue;
    nearest = candidate;
    if (distance == 0) break;
    limit = distance - 1;
    if (limit == 0) break;
  }
  return nearest;
}

}  // namespace adc

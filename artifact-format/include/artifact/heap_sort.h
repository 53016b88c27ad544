#pragma once
// Sorting in place, for lists of any length that may be hostile: a few instructions, where std::sort is a
// kilobyte for each type and order.

#include <cstddef>
#include <utility>

namespace adc::artifact {

/// Sorts by `less(left, right)`; elements that are equal may change places. At most about 2 n log2 n
/// comparisons.
template <class List, class Less>
void HeapSort(List& list, Less less) {
  auto sift = [&](size_t root, size_t end) {
    while (2 * root + 1 < end) {
      size_t child = 2 * root + 1;
      if (child + 1 < end && less(list[child], list[child + 1])) ++child;
      if (!less(list[root], list[child])) return;
      std::swap(list[root], list[child]);
      root = child;
    }
  };
  for (size_t root = list.size() / 2; root-- > 0;) sift(root, list.size());
  for (size_t end = list.size(); end-- > 1;) {
    std::swap(list[0], list[end]);
    sift(0, end);
  }
}

}  // namespace adc::artifact

#pragma once
// Lists of names that may be hostile: sorted in place, so that every question costs a logarithm and a list of
// n names n log n.

#include <string_view>

#include "artifact/memory.h"

namespace adc::artifact {

/// Sorts with a heap: no recursion, no memory, no bad case.
void SortNames(Vector<std::string_view>* names);
/// Comparisons that it takes.
uint64_t StepsToSort(uint64_t names);

/// Names that must all turn up somewhere.
class WantedNames {
 public:
  explicit WantedNames(const Allocator* allocator) : names_(allocator), found_(allocator) {}

  /// False when memory is refused.
  [[nodiscard]] bool TryAdd(std::string_view name) { return names_.TryPush(name); }
  /// After the last TryAdd and before the first Found. False when memory is refused.
  [[nodiscard]] bool TrySeal();
  size_t size() const { return names_.size(); }
  /// The longest of them, once sealed.
  size_t longest() const { return longest_; }
  /// Takes note that `name` turned up, wanted or not.
  void Found(std::string_view name);
  /// Whether all did; otherwise the first that did not.
  bool Complete(std::string_view* missing) const;

 private:
  Vector<std::string_view> names_;
  Vector<uint8_t> found_;
  size_t longest_ = 0;
};

}  // namespace adc::artifact

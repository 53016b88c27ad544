#pragma once
// Lists of names that may be hostile: sorted in place, so that every question costs a logarithm and a list of
// n names n log n.

#include <string_view>

#include "artifact/memory.h"

namespace adc::artifact {

/// How many bytes at `at` are a character that would drive a terminal or turn the direction of text, 0 where
/// it is another: control characters (U+0000 to U+001F, U+007F to U+009F), ends of lines and paragraphs
/// (U+2028, U+2029), U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069.
size_t HiddenLength(std::string_view text, size_t at);

/// Sorts with a heap: no recursion, no memory, no bad case.
void SortNames(Vector<std::string_view>* names);
/// Comparisons that it takes.
uint64_t StepsToSort(uint64_t names);

/// Names, each once, that must all turn up somewhere.
class WantedNames {
 public:
  explicit WantedNames(const Allocator* allocator) : names_(allocator), found_(allocator) {}

  /// False when memory is refused.
  [[nodiscard]] bool TryAdd(std::string_view name) { return names_.TryPush(name); }
  /// After the last TryAdd and before the first Found. False when memory is refused.
  [[nodiscard]] bool TrySeal();
  /// A name that was added twice, once sealed; empty where each is there once.
  std::string_view twice() const { return twice_; }
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
  std::string_view twice_;
  size_t longest_ = 0;
};

}  // namespace adc::artifact

#include "names.h"

#include <functional>

#include "artifact/heap_sort.h"

namespace adc::artifact {

size_t HiddenLength(std::string_view text, size_t at) {
  auto byte = [&](size_t n) {
    return at + n < text.size() ? static_cast<unsigned char>(text[at + n]) : static_cast<unsigned char>(0);
  };
  unsigned char first = byte(0), second = byte(1), third = byte(2);
  if (first < 0x20 || first == 0x7F) return 1;
  if (first == 0xC2) return second >= 0x80 && second <= 0x9F ? 2 : 0;
  if (first == 0xD8) return second == 0x9C ? 2 : 0;
  if (first != 0xE2) return 0;
  bool turns = second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xA8 && third <= 0xAE));
  return turns || (second == 0x81 && third >= 0xA6 && third <= 0xA9) ? 3 : 0;
}

void SortNames(Vector<std::string_view>* list) {
  HeapSort(*list, std::less<std::string_view>());
}

uint64_t StepsToSort(uint64_t names) {
  uint64_t levels = 1;
  while (names >> levels != 0) ++levels;
  return 2 * names * levels;
}

bool WantedNames::TrySeal() {
  SortNames(&names_);
  std::string_view last;
  for (std::string_view name : names_) {
    if (name.size() > longest_) longest_ = name.size();
    if (name == last) twice_ = name;
    last = name;
  }
  return found_.TryResize(names_.size());
}

void WantedNames::Found(std::string_view name) {
  if (name.size() > longest_) return;
  size_t low = 0, high = names_.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (names_[middle] < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < names_.size() && names_[low] == name) found_[low] = 1;
}

bool WantedNames::Complete(std::string_view* missing) const {
  for (size_t index = 0; index < names_.size(); ++index) {
    if (found_[index]) continue;
    *missing = names_[index];
    return false;
  }
  return true;
}

}  // namespace adc::artifact

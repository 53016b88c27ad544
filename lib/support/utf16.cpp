#include "support/utf16.h"

#include <algorithm>

#include "support/printable.h"

namespace adc {

namespace {

/// Bytes and units of the character at `at`.
struct Extent {
  size_t bytes, units;
};
Extent ExtentAt(std::string_view text, size_t at) {
  size_t bytes = std::max<size_t>(SequenceAt(text, at), 1);
  return {bytes, bytes == 4 ? size_t{2} : size_t{1}};
}

}  // namespace

size_t Utf16Length(std::string_view text) {
  size_t units = 0;
  for (size_t at = 0; at < text.size();) {
    Extent extent = ExtentAt(text, at);
    at += extent.bytes;
    units += extent.units;
  }
  return units;
}

size_t Utf16Offset(std::string_view line, size_t units) {
  size_t at = 0;
  for (size_t passed = 0; at < line.size();) {
    Extent extent = ExtentAt(line, at);
    if (passed + extent.units > units) break;
    at += extent.bytes;
    passed += extent.units;
  }
  return at;
}

}  // namespace adc

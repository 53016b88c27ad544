// The forms of writing a file that are the same on every system.

#include <algorithm>

#include "host/files.h"

namespace adc {

FileStatus WriteIfDifferent(const std::string& path, std::span<const uint8_t> bytes) {
  if (path != "-" && CheckRegularFile(path)) {
    FileResult<std::string> old = ReadWhole(path, bytes.size());
    if (old && old->size() == bytes.size() &&
        std::equal(bytes.begin(), bytes.end(), old->begin(),
                   [](uint8_t left, char right) { return left == static_cast<uint8_t>(right); }))
      return FileDone{};
  }
  return WriteWhole(path, bytes);
}

FileStatus WriteWhole(const std::string& path, std::string_view text) {
  return WriteWhole(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

}  // namespace adc

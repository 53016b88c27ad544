#pragma once
// Two bundles as one input: a byte of choices, three of nothing, the size of the first bundle in four bytes,
// the bundles. Any bytes are such an input.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace fuzz {

struct BundlePair {
  uint8_t choices = 0;
  std::vector<uint8_t> first, second;

  static constexpr size_t kHeader = 8;

  static BundlePair Read(const uint8_t* data, size_t size) {
    BundlePair pair;
    if (size < kHeader) return pair;
    pair.choices = data[0];
    uint32_t stated = 0;
    std::memcpy(&stated, data + 4, sizeof stated);
    size_t split = kHeader + std::min<size_t>(stated, size - kHeader);
    pair.first.assign(data + kHeader, data + split);
    pair.second.assign(data + split, data + size);
    return pair;
  }

  std::string Write() const {
    std::string bytes(kHeader, '\0');
    bytes[0] = static_cast<char>(choices);
    auto size = static_cast<uint32_t>(first.size());
    std::memcpy(bytes.data() + 4, &size, sizeof size);
    bytes.append(first.begin(), first.end());
    bytes.append(second.begin(), second.end());
    return bytes;
  }
};

}  // namespace fuzz

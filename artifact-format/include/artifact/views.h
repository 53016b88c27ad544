#pragma once
// Pieces of text. Those of std::string_view check their positions and throw, which pulls the C++ library into
// a loader that is linked without it.

#include <cstring>
#include <string_view>

namespace adc::artifact {

inline bool BeginsWith(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::memcmp(text.data(), prefix.data(), prefix.size()) == 0;
}

/// Up to `length` bytes from `begin` on; empty where the text ends before.
inline std::string_view Piece(std::string_view text, size_t begin, size_t length = std::string_view::npos) {
  if (begin > text.size()) return {};
  size_t left = text.size() - begin;
  return {text.data() + begin, length < left ? length : left};
}

}  // namespace adc::artifact

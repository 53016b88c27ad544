#pragma once
// Typed 32-bit handles over dense tables. A `Value` cannot be passed where an `Inst` is meant, handles order
// and hash by position, and iteration in handle order is deterministic by construction.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace adc {

template <class Tag>
struct Index {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  uint32_t raw = kNone;

  constexpr Index() = default;
  constexpr explicit Index(uint32_t position) : raw(position) {}
  constexpr explicit Index(size_t position) : raw(static_cast<uint32_t>(position)) {}
  constexpr bool Valid() const { return raw != kNone; }
  constexpr explicit operator bool() const { return Valid(); }
  friend constexpr auto operator<=>(Index, Index) = default;
};

}  // namespace adc

template <class Tag>
struct std::hash<adc::Index<Tag>> {
  size_t operator()(adc::Index<Tag> index) const noexcept {
    return index.raw * size_t{0x9E3779B97F4A7C15ull};
  }
};

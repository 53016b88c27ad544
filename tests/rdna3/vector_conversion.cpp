// Conversions between types of numbers. A float becomes an integer by truncation; what does not fit becomes
// the nearest integer that does, NaN becomes 0.

#include <algorithm>

#include "vector.h"

namespace adc::rdna3 {
namespace {

template <class Integer>
Integer Whole(double x) {
  if (x != x) return 0;
  // The limits of up to 32 bits are doubles.
  return static_cast<Integer>(std::clamp(std::trunc(x),
                                         static_cast<double>(std::numeric_limits<Integer>::min()),
                                         static_cast<double>(std::numeric_limits<Integer>::max())));
}

template <uint32_t kByte>
float ByteOf(uint32_t word) {
  return static_cast<float>(word >> (8 * kByte) & 0xFF);
}

uint32_t Packed(Half low, Half high) {
  return low.bits | static_cast<uint32_t>(high.bits) << 16;
}

/// Towards zero.
Half Truncated(float x) {
  Half half{double{x}};
  if (std::fabs(float{half}) > std::fabs(x)) --half.bits;
  return half;
}

/// A fraction of 1 in 16 bits.
template <class Integer>
uint32_t Normalised(float x) {
  constexpr double kMost = std::numeric_limits<Integer>::max(), kLeast = std::is_signed_v<Integer> ? -1 : 0;
  double clamped = x == x ? std::clamp<double>(x, kLeast, 1) : 0;
  return static_cast<uint16_t>(static_cast<Integer>(std::nearbyint(clamped * kMost)));
}

constexpr Row kRows[] = {
    {"v_cvt_f32_f64", EachLane<[](double a) { return static_cast<float>(a); }>},
    {"v_cvt_f64_f32", EachLane<[](float a) { return double{a}; }>},
    {"v_cvt_f32_f16", EachLane<[](Half a) { return float{a}; }>},
    {"v_cvt_f16_f32", EachLane<[](float a) { return Half(double{a}); }>},

    {"v_cvt_f32_i32", EachLane<[](int32_t a) { return static_cast<float>(a); }>},
    {"v_cvt_f32_u32", EachLane<[](uint32_t a) { return static_cast<float>(a); }>},
    {"v_cvt_f64_i32", EachLane<[](int32_t a) { return static_cast<double>(a); }>},
    {"v_cvt_f64_u32", EachLane<[](uint32_t a) { return static_cast<double>(a); }>},
    {"v_cvt_f16_i16", EachLane<[](int16_t a) { return Half(a); }>},
    {"v_cvt_f16_u16", EachLane<[](uint16_t a) { return Half(a); }>},
    {"v_cvt_f32_ubyte0", EachLane<[](uint32_t a) { return ByteOf<0>(a); }>},
    {"v_cvt_f32_ubyte1", EachLane<[](uint32_t a) { return ByteOf<1>(a); }>},
    {"v_cvt_f32_ubyte2", EachLane<[](uint32_t a) { return ByteOf<2>(a); }>},
    {"v_cvt_f32_ubyte3", EachLane<[](uint32_t a) { return ByteOf<3>(a); }>},

    {"v_cvt_i32_f32", EachLane<[](float a) { return Whole<int32_t>(a); }>},
    {"v_cvt_u32_f32", EachLane<[](float a) { return Whole<uint32_t>(a); }>},
    {"v_cvt_i32_f64", EachLane<[](double a) { return Whole<int32_t>(a); }>},
    {"v_cvt_u32_f64", EachLane<[](double a) { return Whole<uint32_t>(a); }>},
    {"v_cvt_i16_f16", EachLane<[](Half a) { return Whole<int16_t>(float{a}); }>},
    {"v_cvt_u16_f16", EachLane<[](Half a) { return Whole<uint16_t>(float{a}); }>},
    {"v_cvt_floor_i32_f32", EachLane<[](float a) { return Whole<int32_t>(std::floor(a)); }>},
    {"v_cvt_nearest_i32_f32", EachLane<[](float a) { return Whole<int32_t>(std::floor(a + 0.5f)); }>},
    {"v_cvt_i32_i16", EachLane<[](int16_t a) { return int32_t{a}; }>},
    {"v_cvt_u32_u16", EachLane<[](uint16_t a) { return uint32_t{a}; }>},

    {"v_cvt_pk_rtz_f16_f32", EachLane<[](float a, float b) { return Packed(Truncated(a), Truncated(b)); }>},
    {"v_cvt_pkrtz_f16_f32", EachLane<[](float a, float b) { return Packed(Truncated(a), Truncated(b)); }>},
    {"v_cvt_pk_norm_i16_f32",
     EachLane<[](float a, float b) { return Normalised<int16_t>(a) | Normalised<int16_t>(b) << 16; }>},
    {"v_cvt_pk_norm_u16_f32",
     EachLane<[](float a, float b) { return Normalised<uint16_t>(a) | Normalised<uint16_t>(b) << 16; }>},
    {"v_pack_b32_f16", EachLane<[](Half a, Half b) { return Packed(a, b); }>},
};

}  // namespace

std::span<const Row> ConversionRows() {
  return kRows;
}

}  // namespace adc::rdna3

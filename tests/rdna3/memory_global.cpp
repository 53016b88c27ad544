// Loads and stores of vector registers (global, scratch, flat), and scalar loads.

#include "access.h"

namespace adc::rdna3 {
namespace {

/// A run of words into scalar registers: source 0 the base, source 1 the register of the offset, or none.
template <uint32_t kWords>
void ScalarLoad(Wave& wave, const Instruction& i) {
  uint64_t at = ScalarBits<uint64_t>(wave, i.source[0].code, 0) + static_cast<uint64_t>(int64_t{i.offset});
  if (i.source[1].code != kNull) at += wave.s[i.source[1].code];
  const uint8_t* bytes = wave.memory->At(at & ~uint64_t{3}, 4 * kWords, false);
  for (uint32_t word = 0; word < kWords; ++word) {
    uint32_t value = 0;
    std::memcpy(&value, bytes + 4 * word, 4);
    SetScalar(wave, static_cast<uint16_t>(i.destination + word), value);
  }
}

#define LOADS_AND_STORES(prefix, space)                                                  \
  {prefix "_load_u8", Load<space, 1, Extension::None>},                                  \
      {prefix "_load_i8", Load<space, 1, Extension::Sign>},                              \
      {prefix "_load_u16", Load<space, 2, Extension::None>},                             \
      {prefix "_load_i16", Load<space, 2, Extension::Sign>},                             \
      {prefix "_load_b32", Load<space, 4, Extension::None>},                             \
      {prefix "_load_b64", Load<space, 8, Extension::None>},                             \
      {prefix "_load_b96", Load<space, 12, Extension::None>},                            \
      {prefix "_load_b128", Load<space, 16, Extension::None>},                           \
      {prefix "_load_d16_u8", Load<space, 1, Extension::LowHalf>},                       \
      {prefix "_load_d16_i8", Load<space, 1, Extension::LowHalfSign>},                   \
      {prefix "_load_d16_b16", Load<space, 2, Extension::LowHalf>},                      \
      {prefix "_load_d16_hi_u8", Load<space, 1, Extension::HighHalf>},                   \
      {prefix "_load_d16_hi_i8", Load<space, 1, Extension::HighHalfSign>},               \
      {prefix "_load_d16_hi_b16", Load<space, 2, Extension::HighHalf>},                  \
      {prefix "_store_b8", Store<space, 1>}, {prefix "_store_b16", Store<space, 2>},     \
      {prefix "_store_b32", Store<space, 4>}, {prefix "_store_b64", Store<space, 8>},    \
      {prefix "_store_b96", Store<space, 12>}, {prefix "_store_b128", Store<space, 16>}, \
      {prefix "_store_d16_hi_b8", Store<space, 1, true>},                                \
      {prefix "_store_d16_hi_b16", Store<space, 2, true>},

constexpr Row kRows[] = {
    LOADS_AND_STORES("global", Space::Global)    //
    LOADS_AND_STORES("scratch", Space::Scratch)  //
    LOADS_AND_STORES("flat", Space::Flat)        //
};

constexpr Row kScalarRows[] = {
    {"s_load_b32", ScalarLoad<1>},  {"s_load_b64", ScalarLoad<2>},   {"s_load_b128", ScalarLoad<4>},
    {"s_load_b256", ScalarLoad<8>}, {"s_load_b512", ScalarLoad<16>},
};

}  // namespace

std::span<const Row> GlobalMemoryRows() {
  return kRows;
}
std::span<const Row> ScalarMemoryRows() {
  return kScalarRows;
}

}  // namespace adc::rdna3

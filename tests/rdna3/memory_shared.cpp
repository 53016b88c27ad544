// LDS: loads and stores of one element, and of two at offsets that count elements, or 64 of them.

#include "access.h"

namespace adc::rdna3 {
namespace {

constexpr Space kLds = Space::Shared;

template <uint32_t kBytes, uint32_t kStride>
void LoadTwo(Wave& wave, const Instruction& i) {
  constexpr int32_t kStep = kBytes * kStride;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!wave.Active(lane)) continue;
    // The address may be one of the destinations.
    uint32_t address = wave.v[VectorNumber(i.source[0].code)][lane];
    for (uint32_t element = 0; element < 2; ++element) {
      auto offset = static_cast<uint32_t>((element == 0 ? i.offset : i.second_offset) * kStep);
      const uint8_t* bytes = InShared(wave, address + offset, kBytes);
      for (uint32_t word = 0; word < kBytes / 4; ++word) {
        std::memcpy(&wave.v[i.destination + element * (kBytes / 4) + word][lane], bytes + 4 * word, 4);
      }
    }
  }
}

template <uint32_t kBytes, uint32_t kStride>
void StoreTwo(Wave& wave, const Instruction& i) {
  constexpr int32_t kStep = kBytes * kStride;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (!wave.Active(lane)) continue;
    StoreAt<kLds, kBytes>(wave, i, lane, i.offset * kStep, VectorNumber(i.source[1].code), false);
    StoreAt<kLds, kBytes>(wave, i, lane, i.second_offset * kStep, VectorNumber(i.source[2].code), false);
  }
}

constexpr Row kRows[] = {
    {"ds_load_u8", Load<kLds, 1, Extension::None>},
    {"ds_load_i8", Load<kLds, 1, Extension::Sign>},
    {"ds_load_u16", Load<kLds, 2, Extension::None>},
    {"ds_load_i16", Load<kLds, 2, Extension::Sign>},
    {"ds_load_u8_d16", Load<kLds, 1, Extension::LowHalf>},
    {"ds_load_u8_d16_hi", Load<kLds, 1, Extension::HighHalf>},
    {"ds_load_i8_d16", Load<kLds, 1, Extension::LowHalfSign>},
    {"ds_load_i8_d16_hi", Load<kLds, 1, Extension::HighHalfSign>},
    {"ds_load_u16_d16", Load<kLds, 2, Extension::LowHalf>},
    {"ds_load_u16_d16_hi", Load<kLds, 2, Extension::HighHalf>},
    {"ds_load_b32", Load<kLds, 4, Extension::None>},
    {"ds_load_b64", Load<kLds, 8, Extension::None>},
    {"ds_load_b96", Load<kLds, 12, Extension::None>},
    {"ds_load_b128", Load<kLds, 16, Extension::None>},
    {"ds_store_b8", Store<kLds, 1>},
    {"ds_store_b16", Store<kLds, 2>},
    {"ds_store_b8_d16_hi", Store<kLds, 1, true>},
    {"ds_store_b16_d16_hi", Store<kLds, 2, true>},
    {"ds_store_b32", Store<kLds, 4>},
    {"ds_store_b64", Store<kLds, 8>},
    {"ds_store_b96", Store<kLds, 12>},
    {"ds_store_b128", Store<kLds, 16>},
    {"ds_load_2addr_b32", LoadTwo<4, 1>},
    {"ds_load_2addr_b64", LoadTwo<8, 1>},
    {"ds_load_2addr_stride64_b32", LoadTwo<4, 64>},
    {"ds_load_2addr_stride64_b64", LoadTwo<8, 64>},
    {"ds_store_2addr_b32", StoreTwo<4, 1>},
    {"ds_store_2addr_b64", StoreTwo<8, 1>},
    {"ds_store_2addr_stride64_b32", StoreTwo<4, 64>},
    {"ds_store_2addr_stride64_b64", StoreTwo<8, 64>},
};

}  // namespace

std::span<const Row> SharedMemoryRows() {
  return kRows;
}

}  // namespace adc::rdna3

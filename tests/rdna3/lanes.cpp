// Instructions by which lanes read each other's registers, and registers that M0 numbers.
//
// A row is 16 lanes. DPP moves lanes of the first source before a vector instruction runs (ISA, "Data
// Parallel Processing"); permlane, bpermute and swizzle are instructions of their own.

#include "lanes.h"

#include <bit>

#include "vector.h"

namespace adc::rdna3 {
namespace {

constexpr uint32_t kRow = 16;

enum DppControl : uint32_t {
  kQuadPermEnd = 0x100,
  kRowShiftLeft = 0x100,
  kRowShiftRight = 0x110,
  kRowRotateRight = 0x120,
  kRowMirror = 0x140,
  kRowHalfMirror = 0x141,
  kRowShare = 0x150,
  kRowXorMask = 0x160,
  kDppEnd = 0x170,
};

uint32_t RowMovedFrom(uint32_t control, uint32_t lane) {
  uint32_t row = lane / kRow * kRow, place = lane % kRow, count = control % kRow;
  if (control < kQuadPermEnd) return lane / 4 * 4 + (control >> (lane % 4 * 2) & 3);
  if (control == kRowMirror) return row + kRow - 1 - place;
  if (control == kRowHalfMirror) return row + place / 8 * 8 + 7 - place % 8;
  switch (control - count) {
    case kRowShiftLeft:
      return place + count < kRow ? lane + count : kNoLane;
    case kRowShiftRight:
      return place >= count ? lane - count : kNoLane;
    case kRowRotateRight:
      return row + (place + kRow - count) % kRow;
    case kRowShare:
      return row + count;
    case kRowXorMask:
      return row + (place ^ count);
    default:
      throw Fault("a DPP control that RDNA3 does not have: " + std::to_string(control));
  }
}

// ---------------------------------------------------------------------------------------------- one lane

uint32_t FirstActive(const Wave& wave) {
  return wave.exec() ? static_cast<uint32_t>(std::countr_zero(wave.exec())) : 0;
}

/// Word of a source as a lane sees it, active or not.
uint32_t WordOf(const Wave& wave, const Instruction& i, uint32_t source, uint32_t lane) {
  uint16_t code = i.source[source].code;
  return code >= kVectors ? wave.v[VectorNumber(code)][lane] : ScalarBits<uint32_t>(wave, code, i.literal);
}

void ReadFirstLane(Wave& wave, const Instruction& i) {
  SetScalar(wave, i.destination, WordOf(wave, i, 0, FirstActive(wave)));
}
void ReadLane(Wave& wave, const Instruction& i) {
  SetScalar(wave, i.destination, WordOf(wave, i, 0, ScalarValue<uint32_t>(wave, i, 1) % kLanes));
}
void WriteLane(Wave& wave, const Instruction& i) {
  wave.v[i.destination][ScalarValue<uint32_t>(wave, i, 1) % kLanes] = ScalarValue<uint32_t>(wave, i, 0);
}

// ----------------------------------------------------------------------------------------- all lanes at once

void WriteWords(Wave& wave, const Instruction& i, const PerLane<uint32_t>& words) {
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    if (wave.Active(lane)) wave.v[i.destination][lane] = words[lane];
  }
}

/// Each lane of a row takes the lane of its own row, or of the other one, that four bits of the two selecting
/// words name. op_sel: [0] reads inactive lanes, too, [1] those give 0 where they are not read.
template <bool kOtherRow>
void PermuteRow(Wave& wave, const Instruction& i) {
  PerLane<uint32_t> words = {};
  uint64_t select =
      ScalarValue<uint32_t>(wave, i, 1) | static_cast<uint64_t>(ScalarValue<uint32_t>(wave, i, 2)) << 32;
  bool fetch_inactive = i.source[0].high, bound_control = i.source[1].high;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t row = lane / kRow * kRow ^ (kOtherRow ? kRow : 0);
    uint32_t from = row + static_cast<uint32_t>(select >> (lane % kRow * 4) & 0xF);
    if (wave.Active(from) || fetch_inactive) {
      words[lane] = WordOf(wave, i, 0, from);
    } else {
      words[lane] = bound_control ? 0 : wave.v[i.destination][lane];
    }
  }
  WriteWords(wave, i, words);
}

/// In a wave of 32 lanes nothing lies across.
void PermuteHalves(Wave&, const Instruction&) {}

// ds_*permute: source 0 the address, source 1 the data.
void BackwardPermute(Wave& wave, const Instruction& i) {
  PerLane<uint32_t> words = {};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t from = (WordOf(wave, i, 0, lane) + static_cast<uint32_t>(i.offset)) / 4 % kLanes;
    if (wave.Active(from)) words[lane] = WordOf(wave, i, 1, from);
  }
  WriteWords(wave, i, words);
}
void ForwardPermute(Wave& wave, const Instruction& i) {
  PerLane<uint32_t> words = {};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t to = (WordOf(wave, i, 0, lane) + static_cast<uint32_t>(i.offset)) / 4 % kLanes;
    if (wave.Active(lane)) words[to] = WordOf(wave, i, 1, lane);
  }
  WriteWords(wave, i, words);
}
void Swizzle(Wave& wave, const Instruction& i) {
  auto control = static_cast<uint32_t>(i.offset);
  constexpr uint32_t kQuads = 0x8000, kRotate = 0xC000;
  if (control >= kRotate) throw Fault("ds_swizzle_b32 that rotates is not implemented");
  PerLane<uint32_t> words = {};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t from = control & kQuads
                        ? lane / 4 * 4 + (control >> (lane % 4 * 2) & 3)
                        : ((lane & (control & 0x1F)) | (control >> 5 & 0x1F)) ^ (control >> 10 & 0x1F);
    if (wave.Active(from)) words[lane] = WordOf(wave, i, 0, from);
  }
  WriteWords(wave, i, words);
}

// ------------------------------------------------------------------------------------ registers that M0
// numbers

uint16_t Moved(const Wave& wave, uint32_t number) {
  uint32_t moved = number + wave.s[kM0];
  if (moved >= wave.vector_registers) {
    throw Fault("M0 numbers VGPR " + std::to_string(moved) + " of " + std::to_string(wave.vector_registers));
  }
  return static_cast<uint16_t>(moved);
}

template <bool kSource, bool kDestination>
void MoveRelative(Wave& wave, const Instruction& i) {
  Instruction moved = i;
  if (kSource) {
    moved.source[0].code = static_cast<uint16_t>(kVectors + Moved(wave, VectorNumber(i.source[0].code)));
  }
  if (kDestination) moved.destination = Moved(wave, i.destination);
  EachLane<[](uint32_t a) { return a; }>(wave, moved);
}

constexpr Row kRows[] = {
    {"v_readfirstlane_b32", ReadFirstLane},
    {"v_readlane_b32", ReadLane},
    {"v_writelane_b32", WriteLane},
    {"v_permlane16_b32", PermuteRow<false>},
    {"v_permlanex16_b32", PermuteRow<true>},
    {"v_permlane64_b32", PermuteHalves},
    {"ds_bpermute_b32", BackwardPermute},
    {"ds_permute_b32", ForwardPermute},
    {"ds_swizzle_b32", Swizzle},
    {"v_movrels_b32", MoveRelative<true, false>},
    {"v_movreld_b32", MoveRelative<false, true>},
    {"v_movrelsd_b32", MoveRelative<true, true>},
    {"v_mbcnt_lo_u32_b32", EachLane<[](uint32_t mask, uint32_t more, LaneNumber lane) {
       return static_cast<uint32_t>(std::popcount(mask & ((1u << lane.value) - 1))) + more;
     }>},
    // The lanes from 32 on, none of which comes before a lane of this wave.
    {"v_mbcnt_hi_u32_b32", EachLane<[](uint32_t, uint32_t more) { return more; }>},
};

}  // namespace

uint32_t MovedFrom(const LaneMove& move, uint32_t lane) {
  if (move.kind == LaneMove::Kind::Eight) return lane / 8 * 8 + (move.control >> (lane % 8 * 3) & 7);
  return RowMovedFrom(move.control, lane);
}

uint32_t LanesThatRun(const Wave& wave, const LaneMove& move) {
  uint32_t lanes = wave.exec();
  if (move.kind == LaneMove::Kind::None) return lanes;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    bool masked = (move.row_mask >> (lane / kRow) & 1) == 0 || (move.bank_mask >> (lane % kRow / 4) & 1) == 0;
    uint32_t from = MovedFrom(move, lane);
    bool reads = from != kNoLane && (wave.Active(from) || move.fetch_inactive);
    if (masked || (!reads && !move.bound_control && move.kind == LaneMove::Kind::Row)) lanes &= ~(1u << lane);
  }
  return lanes;
}

void UnknownScalar(uint16_t code) {
  throw Fault("a scalar operand that is not implemented: code " + std::to_string(code));
}

std::span<const Row> LaneRows() {
  return kRows;
}

}  // namespace adc::rdna3

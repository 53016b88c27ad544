// Vector instructions on two numbers of 16 bits in a register (VOP3P), and the multiply-add of mixed widths.
//
// For each operand two bits say which half the low and the high result read (op_sel, op_sel_hi), two more
// where it is negated. A constant is the same in both halves where it is an integer of 16 bits; a float's is
// in the low half alone.

#include <algorithm>

#include "vector.h"

namespace adc::rdna3 {
namespace {

template <class T>
T HalfOf(uint32_t word, bool high) {
  return std::bit_cast<T>(static_cast<uint16_t>(high ? word >> 16 : word));
}

/// A source's word in all lanes.
PerLane<uint32_t> Words(const Wave& wave, const Instruction& i, uint32_t number) {
  uint16_t code = i.source[number].code;
  PerLane<uint32_t> words;
  if (code >= kFloats && code < kFloats + 9) {
    words.fill(ConstantBits<Half>(code, 0));
  } else {
    Instruction plain = i;
    plain.source[number].negative = plain.source[number].absolute = false;
    ReadSource<uint32_t>(wave, plain, number, words);
  }
  return words;
}

template <auto kFunction, class T, class... Rest>
void RunPairs(T (*)(T, Rest...), Wave& wave, const Instruction& i) {
  constexpr uint32_t kCount = 1 + sizeof...(Rest);
  PerLane<uint32_t> words[kCount], results;
  for (uint32_t number = 0; number < kCount; ++number) words[number] = Words(wave, i, number);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    results[lane] = 0;
    for (bool high : {false, true}) {
      uint32_t halves = high ? i.half_high : i.half_low, negative = high ? i.negative_high : i.negative_low;
      T values[3] = {};
      for (uint32_t number = 0; number < kCount; ++number) {
        values[number] = HalfOf<T>(words[number][lane], halves >> number & 1);
        if (negative >> number & 1) values[number] = WithSign(values[number], false, true);
      }
      T result;
      if constexpr (kCount == 2) {
        result = kFunction(values[0], values[1]);
      } else {
        result = kFunction(values[0], values[1], values[2]);
      }
      if constexpr (kIsFloat<T>) result = Finished(wave, i, result);
      results[lane] |= static_cast<uint32_t>(std::bit_cast<uint16_t>(result)) << (high ? 16 : 0);
    }
  }
  if (!kIsFloat<T> && i.clamp) throw Fault("a packed integer instruction that saturates is not implemented");
  Instruction plain = i;
  plain.clamp = false;
  WriteDestination<uint32_t>(wave, plain, LanesThatRun(wave, i.move), results);
}
template <auto kFunction>
void Pairs(Wave& wave, const Instruction& i) {
  RunPairs<kFunction>(+kFunction, wave, i);
}

/// Each source is an f32, or an f16 where op_sel_hi says so, of the half that op_sel names; the bits of the
/// high half's sign take the absolute value.
PerLane<float> MixedFma(const Wave& wave, const Instruction& i) {
  PerLane<uint32_t> words[3];
  for (uint32_t number = 0; number < 3; ++number) words[number] = Words(wave, i, number);
  PerLane<float> results;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    float values[3];
    for (uint32_t number = 0; number < 3; ++number) {
      uint32_t word = words[number][lane];
      bool is_half = i.half_high >> number & 1;
      if (!is_half && i.source[number].code >= kFloats && i.source[number].code < kFloats + 9) {
        word = ConstantBits<float>(i.source[number].code, 0);
      }
      float value =
          is_half ? float{HalfOf<Half>(word, i.half_low >> number & 1)} : std::bit_cast<float>(word);
      values[number] = WithSign(value, i.negative_high >> number & 1, i.negative_low >> number & 1);
    }
    results[lane] = std::fma(values[0], values[1], values[2]);
  }
  return results;
}
void MixToFloat(Wave& wave, const Instruction& i) {
  PerLane<float> results = MixedFma(wave, i);
  WriteDestination<float>(wave, i, wave.exec(), results);
}
template <bool kHigh>
void MixToHalf(Wave& wave, const Instruction& i) {
  PerLane<float> results = MixedFma(wave, i);
  PerLane<Half> halves;
  for (uint32_t lane = 0; lane < kLanes; ++lane) halves[lane] = Half(double{results[lane]});
  Instruction to = i;
  to.destination_high = kHigh;
  WriteDestination<Half>(wave, to, wave.exec(), halves);
}

using U16 = uint16_t;
using I16 = int16_t;

Half Least(Half a, Half b) {
  return a != a ? b : b != b ? a : a < b || (a == b && a.bits >> 15) ? a : b;
}
Half Greatest(Half a, Half b) {
  return a != a ? b : b != b ? a : a > b || (a == b && b.bits >> 15) ? a : b;
}

constexpr Row kRows[] = {
    {"v_pk_add_f16", Pairs<[](Half a, Half b) { return Half(float{a} + float{b}); }>},
    {"v_pk_mul_f16", Pairs<[](Half a, Half b) { return Half(float{a} * float{b}); }>},
    {"v_pk_min_f16", Pairs<[](Half a, Half b) { return Least(a, b); }>},
    {"v_pk_max_f16", Pairs<[](Half a, Half b) { return Greatest(a, b); }>},
    {"v_pk_fma_f16", Pairs<[](Half a, Half b, Half c) {
       return Half(std::fma(double{float{a}}, double{float{b}}, double{float{c}}));
     }>},
    {"v_pk_add_u16", Pairs<[](U16 a, U16 b) { return static_cast<U16>(a + b); }>},
    {"v_pk_sub_u16", Pairs<[](U16 a, U16 b) { return static_cast<U16>(a - b); }>},
    {"v_pk_add_i16", Pairs<[](I16 a, I16 b) { return static_cast<I16>(a + b); }>},
    {"v_pk_sub_i16", Pairs<[](I16 a, I16 b) { return static_cast<I16>(a - b); }>},
    {"v_pk_mul_lo_u16", Pairs<[](U16 a, U16 b) { return static_cast<U16>(uint32_t{a} * b); }>},
    {"v_pk_mad_u16", Pairs<[](U16 a, U16 b, U16 c) { return static_cast<U16>(uint32_t{a} * b + c); }>},
    {"v_pk_mad_i16", Pairs<[](I16 a, I16 b, I16 c) { return static_cast<I16>(int32_t{a} * b + c); }>},
    {"v_pk_min_u16", Pairs<[](U16 a, U16 b) { return std::min(a, b); }>},
    {"v_pk_max_u16", Pairs<[](U16 a, U16 b) { return std::max(a, b); }>},
    {"v_pk_min_i16", Pairs<[](I16 a, I16 b) { return std::min(a, b); }>},
    {"v_pk_max_i16", Pairs<[](I16 a, I16 b) { return std::max(a, b); }>},
    {"v_pk_lshlrev_b16", Pairs<[](U16 count, U16 a) { return static_cast<U16>(a << (count % 16)); }>},
    {"v_pk_lshrrev_b16", Pairs<[](U16 count, U16 a) { return static_cast<U16>(a >> (count % 16)); }>},
    {"v_pk_ashrrev_i16", Pairs<[](I16 count, I16 a) { return static_cast<I16>(a >> (count % 16)); }>},
    {"v_fma_mix_f32", MixToFloat},
    {"v_fma_mixlo_f16", MixToHalf<false>},
    {"v_fma_mixhi_f16", MixToHalf<true>},
};

}  // namespace

std::span<const Row> PackedRows() {
  return kRows;
}

}  // namespace adc::rdna3

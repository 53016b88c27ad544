// Vector instructions of integers and bits: arithmetic with and without carries, shifts, fields, selections.

#include <algorithm>
#include <bit>

#include "vector.h"

namespace adc::rdna3 {
namespace {

using U16 = uint16_t;
using U32 = uint32_t;
using U64 = uint64_t;
using I16 = int16_t;
using I32 = int32_t;
using I64 = int64_t;

// ---------------------------------------------------------------------------------------------- carries

WithBit<U32> Sum(U32 a, U32 b, bool carry) {
  U64 sum = U64{a} + b + carry;
  return {static_cast<U32>(sum), (sum >> 32) != 0};
}
WithBit<U32> Difference(U32 a, U32 b, bool borrow) {
  return {a - b - borrow, U64{b} + borrow > a};
}

WithBit<U64> MultiplyAdd(U32 a, U32 b, U64 c) {
  U64 product = U64{a} * b, sum = product + c;
  return {sum, sum < product};
}
WithBit<I64> MultiplyAdd(I32 a, I32 b, I64 c) {
  I64 product = I64{a} * b, sum = 0;
  bool overflows = __builtin_add_overflow(product, c, &sum);
  return {sum, overflows};
}

// ----------------------------------------------------------------------------------------------- fields

I32 Signed24(U32 a) {
  return static_cast<I32>(a << 8) >> 8;
}
U32 Low24(U32 a) {
  return a & 0xFFFFFF;
}

U32 Field(U32 a, U32 offset, U32 width) {
  return a >> (offset % 32) & ((1u << (width % 32)) - 1);
}
I32 SignedField(I32 a, U32 offset, U32 width) {
  width %= 32;
  if (width == 0) return 0;
  U32 field = static_cast<U32>(a >> (offset % 32)) & ((1u << width) - 1);
  return static_cast<I32>(field << (32 - width)) >> (32 - width);
}
U32 Reversed(U32 a) {
  U32 reversed = 0;
  for (U32 bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1) << (31 - bit);
  return reversed;
}
/// Leading bits that are as the sign, the sign among them; -1 where all are.
I32 SignBits(I32 a) {
  if (a == 0 || a == -1) return -1;
  return std::countl_zero(static_cast<U32>(a < 0 ? ~a : a));
}

/// Bytes of {a, b}, as v_perm_b32 selects them.
U32 PermutedBytes(U32 a, U32 b, U32 select) {
  U64 bytes = U64{a} << 32 | b;
  U32 result = 0;
  for (U32 place = 0; place < 4; ++place) {
    U32 which = select >> (8 * place) & 0xFF, byte = 0;
    if (which >= 13) {
      byte = 0xFF;
    } else if (which == 12) {
      byte = 0;
    } else if (which >= 8) {  // a sign
      byte = bytes >> (16 * (which - 8) + 15) & 1 ? 0xFF : 0;
    } else {
      byte = bytes >> (8 * which) & 0xFF;
    }
    result |= byte << (8 * place);
  }
  return result;
}

template <class T>
T Middle(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

constexpr Row kRows[] = {
    {"v_nop", [](Wave&, const Instruction&) {}},
    {"v_mov_b32", EachLane<[](U32 a) { return a; }>},
    {"v_mov_b16", EachLane<[](U16 a) { return a; }>},
    {"v_not_b32", EachLane<[](U32 a) { return ~a; }>},
    {"v_not_b16", EachLane<[](U16 a) { return static_cast<U16>(~a); }>},
    {"v_and_b32", EachLane<[](U32 a, U32 b) { return a & b; }>},
    {"v_and_b16", EachLane<[](U16 a, U16 b) { return static_cast<U16>(a & b); }>},
    {"v_or_b32", EachLane<[](U32 a, U32 b) { return a | b; }>},
    {"v_or_b16", EachLane<[](U16 a, U16 b) { return static_cast<U16>(a | b); }>},
    {"v_xor_b32", EachLane<[](U32 a, U32 b) { return a ^ b; }>},
    {"v_xor_b16", EachLane<[](U16 a, U16 b) { return static_cast<U16>(a ^ b); }>},
    {"v_xnor_b32", EachLane<[](U32 a, U32 b) { return ~(a ^ b); }>},
    {"v_and_or_b32", EachLane<[](U32 a, U32 b, U32 c) { return (a & b) | c; }>},
    {"v_or3_b32", EachLane<[](U32 a, U32 b, U32 c) { return a | b | c; }>},
    {"v_xor3_b32", EachLane<[](U32 a, U32 b, U32 c) { return a ^ b ^ c; }>},
    {"v_bfi_b32", EachLane<[](U32 mask, U32 a, U32 b) { return (mask & a) | (~mask & b); }>},
    {"v_bfm_b32",
     EachLane<[](U32 width, U32 offset) { return ((1u << (width % 32)) - 1) << (offset % 32); }>},
    {"v_bfe_u32", EachLane<[](U32 a, U32 offset, U32 width) { return Field(a, offset, width); }>},
    {"v_bfe_i32", EachLane<[](I32 a, U32 offset, U32 width) { return SignedField(a, offset, width); }>},
    {"v_bfrev_b32", EachLane<[](U32 a) { return Reversed(a); }>},
    {"v_bcnt_u32_b32", EachLane<[](U32 a, U32 b) { return static_cast<U32>(std::popcount(a)) + b; }>},
    {"v_clz_i32_u32", EachLane<[](U32 a) { return a ? std::countl_zero(a) : -1; }>},
    {"v_ctz_i32_b32", EachLane<[](U32 a) { return a ? std::countr_zero(a) : -1; }>},
    {"v_cls_i32", EachLane<[](I32 a) { return SignBits(a); }>},
    {"v_perm_b32", EachLane<[](U32 a, U32 b, U32 select) { return PermutedBytes(a, b, select); }>},
    {"v_alignbit_b32",
     EachLane<[](U32 a, U32 b, U32 count) { return static_cast<U32>((U64{a} << 32 | b) >> (count % 32)); }>},
    {"v_alignbyte_b32", EachLane<[](U32 a, U32 b, U32 count) {
       return static_cast<U32>((U64{a} << 32 | b) >> (count % 4 * 8));
     }>},
    {"v_cndmask_b32",
     EachLane<[](FloatBits a, FloatBits b, Bit second) { return second.value ? b.bits : a.bits; }>},
    {"v_cndmask_b16", EachLane<[](U16 a, U16 b, Bit second) { return second.value ? b : a; }>},

    {"v_lshlrev_b32", EachLane<[](U32 count, U32 a) { return a << (count % 32); }>},
    {"v_lshrrev_b32", EachLane<[](U32 count, U32 a) { return a >> (count % 32); }>},
    {"v_ashrrev_i32", EachLane<[](U32 count, I32 a) { return a >> (count % 32); }>},
    {"v_lshlrev_b64", EachLane<[](U32 count, U64 a) { return a << (count % 64); }>},
    {"v_lshrrev_b64", EachLane<[](U32 count, U64 a) { return a >> (count % 64); }>},
    {"v_ashrrev_i64", EachLane<[](U32 count, I64 a) { return a >> (count % 64); }>},
    {"v_lshlrev_b16", EachLane<[](U16 count, U16 a) { return static_cast<U16>(a << (count % 16)); }>},
    {"v_lshrrev_b16", EachLane<[](U16 count, U16 a) { return static_cast<U16>(a >> (count % 16)); }>},
    {"v_ashrrev_i16", EachLane<[](U16 count, I16 a) { return static_cast<I16>(a >> (count % 16)); }>},
    {"v_lshl_add_u32", EachLane<[](U32 a, U32 count, U32 b) { return (a << (count % 32)) + b; }>},
    {"v_add_lshl_u32", EachLane<[](U32 a, U32 b, U32 count) { return (a + b) << (count % 32); }>},
    {"v_lshl_or_b32", EachLane<[](U32 a, U32 count, U32 b) { return a << (count % 32) | b; }>},

    {"v_add_nc_u32", EachLane<[](U32 a, U32 b) { return Saturating<U32>{I64{a} + I64{b}}; }>},
    {"v_sub_nc_u32", EachLane<[](U32 a, U32 b) { return Saturating<U32>{I64{a} - I64{b}}; }>},
    {"v_subrev_nc_u32", EachLane<[](U32 a, U32 b) { return Saturating<U32>{I64{b} - I64{a}}; }>},
    {"v_add_nc_i32", EachLane<[](I32 a, I32 b) { return Saturating<I32>{I64{a} + b}; }>},
    {"v_sub_nc_i32", EachLane<[](I32 a, I32 b) { return Saturating<I32>{I64{a} - b}; }>},
    {"v_add_nc_u16", EachLane<[](U16 a, U16 b) { return Saturating<U16>{I64{a} + b}; }>},
    {"v_sub_nc_u16", EachLane<[](U16 a, U16 b) { return Saturating<U16>{I64{a} - b}; }>},
    {"v_add_nc_i16", EachLane<[](I16 a, I16 b) { return Saturating<I16>{I64{a} + b}; }>},
    {"v_sub_nc_i16", EachLane<[](I16 a, I16 b) { return Saturating<I16>{I64{a} - b}; }>},
    {"v_add3_u32", EachLane<[](U32 a, U32 b, U32 c) { return a + b + c; }>},
    {"v_xad_u32", EachLane<[](U32 a, U32 b, U32 c) { return (a ^ b) + c; }>},
    {"v_sad_u32", EachLane<[](U32 a, U32 b, U32 c) { return (a > b ? a - b : b - a) + c; }>},
    {"v_add_co_u32", EachLane<[](U32 a, U32 b) { return Sum(a, b, false); }>},
    {"v_sub_co_u32", EachLane<[](U32 a, U32 b) { return Difference(a, b, false); }>},
    {"v_subrev_co_u32", EachLane<[](U32 a, U32 b) { return Difference(b, a, false); }>},
    {"v_add_co_ci_u32", EachLane<[](U32 a, U32 b, Bit carry) { return Sum(a, b, carry.value); }>},
    {"v_sub_co_ci_u32", EachLane<[](U32 a, U32 b, Bit borrow) { return Difference(a, b, borrow.value); }>},
    {"v_subrev_co_ci_u32", EachLane<[](U32 a, U32 b, Bit borrow) { return Difference(b, a, borrow.value); }>},

    {"v_mul_lo_u32", EachLane<[](U32 a, U32 b) { return a * b; }>},
    {"v_mul_hi_u32", EachLane<[](U32 a, U32 b) { return static_cast<U32>(U64{a} * b >> 32); }>},
    {"v_mul_hi_i32", EachLane<[](I32 a, I32 b) { return static_cast<I32>(I64{a} * b >> 32); }>},
    {"v_mul_lo_u16", EachLane<[](U16 a, U16 b) { return static_cast<U16>(U32{a} * b); }>},
    {"v_mul_u32_u24", EachLane<[](U32 a, U32 b) { return Low24(a) * Low24(b); }>},
    {"v_mul_i32_i24",
     EachLane<[](U32 a, U32 b) { return static_cast<U32>(I64{Signed24(a)} * Signed24(b)); }>},
    {"v_mul_hi_u32_u24",
     EachLane<[](U32 a, U32 b) { return static_cast<U32>(U64{Low24(a)} * Low24(b) >> 32); }>},
    {"v_mul_hi_i32_i24",
     EachLane<[](U32 a, U32 b) { return static_cast<U32>(I64{Signed24(a)} * Signed24(b) >> 32); }>},
    {"v_mad_u32_u24", EachLane<[](U32 a, U32 b, U32 c) { return Low24(a) * Low24(b) + c; }>},
    {"v_mad_i32_i24",
     EachLane<[](U32 a, U32 b, U32 c) { return static_cast<U32>(I64{Signed24(a)} * Signed24(b)) + c; }>},
    {"v_mad_u16", EachLane<[](U16 a, U16 b, U16 c) { return static_cast<U16>(U32{a} * b + c); }>},
    {"v_mad_i16", EachLane<[](I16 a, I16 b, I16 c) { return static_cast<I16>(I32{a} * b + c); }>},
    {"v_mad_u32_u16", EachLane<[](U16 a, U16 b, U32 c) { return U32{a} * b + c; }>},
    {"v_mad_i32_i16", EachLane<[](I16 a, I16 b, I32 c) { return static_cast<I32>(I64{a} * b + c); }>},
    {"v_mad_u64_u32", EachLane<[](U32 a, U32 b, U64 c) { return MultiplyAdd(a, b, c); }>},
    {"v_mad_i64_i32", EachLane<[](I32 a, I32 b, I64 c) { return MultiplyAdd(a, b, c); }>},

    {"v_min_i32", EachLane<[](I32 a, I32 b) { return std::min(a, b); }>},
    {"v_max_i32", EachLane<[](I32 a, I32 b) { return std::max(a, b); }>},
    {"v_min_u32", EachLane<[](U32 a, U32 b) { return std::min(a, b); }>},
    {"v_max_u32", EachLane<[](U32 a, U32 b) { return std::max(a, b); }>},
    {"v_min_i16", EachLane<[](I16 a, I16 b) { return std::min(a, b); }>},
    {"v_max_i16", EachLane<[](I16 a, I16 b) { return std::max(a, b); }>},
    {"v_min_u16", EachLane<[](U16 a, U16 b) { return std::min(a, b); }>},
    {"v_max_u16", EachLane<[](U16 a, U16 b) { return std::max(a, b); }>},
    {"v_min3_i32", EachLane<[](I32 a, I32 b, I32 c) { return std::min({a, b, c}); }>},
    {"v_max3_i32", EachLane<[](I32 a, I32 b, I32 c) { return std::max({a, b, c}); }>},
    {"v_med3_i32", EachLane<[](I32 a, I32 b, I32 c) { return Middle(a, b, c); }>},
    {"v_min3_u32", EachLane<[](U32 a, U32 b, U32 c) { return std::min({a, b, c}); }>},
    {"v_max3_u32", EachLane<[](U32 a, U32 b, U32 c) { return std::max({a, b, c}); }>},
    {"v_med3_u32", EachLane<[](U32 a, U32 b, U32 c) { return Middle(a, b, c); }>},
    {"v_min3_i16", EachLane<[](I16 a, I16 b, I16 c) { return std::min({a, b, c}); }>},
    {"v_max3_i16", EachLane<[](I16 a, I16 b, I16 c) { return std::max({a, b, c}); }>},
    {"v_med3_i16", EachLane<[](I16 a, I16 b, I16 c) { return Middle(a, b, c); }>},
    {"v_min3_u16", EachLane<[](U16 a, U16 b, U16 c) { return std::min({a, b, c}); }>},
    {"v_max3_u16", EachLane<[](U16 a, U16 b, U16 c) { return std::max({a, b, c}); }>},
    {"v_med3_u16", EachLane<[](U16 a, U16 b, U16 c) { return Middle(a, b, c); }>},
    {"v_minmax_i32", EachLane<[](I32 a, I32 b, I32 c) { return std::max(std::min(a, b), c); }>},
    {"v_maxmin_i32", EachLane<[](I32 a, I32 b, I32 c) { return std::min(std::max(a, b), c); }>},
    {"v_minmax_u32", EachLane<[](U32 a, U32 b, U32 c) { return std::max(std::min(a, b), c); }>},
    {"v_maxmin_u32", EachLane<[](U32 a, U32 b, U32 c) { return std::min(std::max(a, b), c); }>},
};

}  // namespace

std::span<const Row> IntegerRows() {
  return kRows;
}

}  // namespace adc::rdna3

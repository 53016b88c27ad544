// Scalar instructions that compute: SOP1, SOP2, SOPC, and SOPK, whose constant takes the place of an operand.
//
// A row is a function of one or two numbers, as of vector instructions; what it says of SCC is in its type of
// result.

#include <algorithm>
#include <bit>
#include <tuple>

#include "operands.h"

namespace adc::rdna3 {
namespace {

using U32 = uint32_t;
using U64 = uint64_t;
using I32 = int32_t;
using I64 = int64_t;

/// A result that SCC says is not 0.
template <class T>
struct Tested {
  T value;
};
/// A result and what SCC becomes.
template <class T>
struct WithScc {
  T value;
  bool scc;
};
/// SCC, as an operand.
struct SccBit {
  bool value;
};

/// The operand that a SOPK instruction both reads and writes comes first, its constant second.
template <class T>
T Operand(const Wave& wave, const Instruction& i, uint32_t& next) {
  if constexpr (std::is_same_v<T, SccBit>) {
    return {wave.scc};
  } else if constexpr (requires { T{}.value; }) {  // Old
    return {std::bit_cast<decltype(T{}.value)>(ScalarBits<decltype(T{}.value)>(wave, i.destination, 0))};
  } else {
    // A constant is extended as its type says.
    constexpr uint32_t kMask = std::is_same_v<T, U32> ? 0xFFFF : ~0u;
    if (i.format == Format::Sopk && next++ == 1) return static_cast<T>(static_cast<U32>(i.offset) & kMask);
    if (i.format == Format::Sopk) return std::bit_cast<T>(ScalarBits<T>(wave, i.destination, 0));
    return ScalarValue<T>(wave, i, next++);
  }
}

template <class T>
void Set(Wave& wave, const Instruction& i, T value) {
  if constexpr (sizeof(T) == 8) {
    SetScalar64(wave, i.destination, static_cast<U64>(value));
  } else {
    SetScalar(wave, i.destination, static_cast<U32>(value));
  }
}
template <class T>
void Set(Wave& wave, const Instruction& i, Tested<T> result) {
  Set(wave, i, result.value);
  wave.scc = result.value != 0;
}
template <class T>
void Set(Wave& wave, const Instruction& i, WithScc<T> result) {
  Set(wave, i, result.value);
  wave.scc = result.scc;
}
void Set(Wave& wave, const Instruction&, bool scc) {
  wave.scc = scc;
}

template <auto kFunction, class Result, class... Params>
void RunScalar(Result (*)(Params...), Wave& wave, const Instruction& i) {
  [[maybe_unused]] uint32_t next = 0;
  std::tuple<Params...> operands{Operand<Params>(wave, i, next)...};
  Set(wave, i, std::apply(kFunction, operands));
}
template <auto kFunction>
void Scalar(Wave& wave, const Instruction& i) {
  RunScalar<kFunction>(+kFunction, wave, i);
}

/// EXEC becomes kFunction(source, EXEC), the destination what it was.
template <auto kFunction>
void SaveExec(Wave& wave, const Instruction& i) {
  U32 source = ScalarValue<U32>(wave, i, 0), exec = wave.exec();
  wave.s[kExec] = kFunction(source, exec);
  SetScalar(wave, i.destination, exec);
  wave.scc = wave.exec() != 0;
}

template <class T>
Tested<T> Field(T a, U32 control) {
  constexpr U32 kBits = 8 * sizeof(T);
  U32 offset = control % kBits, width = std::min(control >> 16 & 0x7F, kBits);
  if (width == 0) return {0};
  using Bits = std::make_unsigned_t<T>;
  Bits shifted = static_cast<Bits>(a >> offset);
  return {static_cast<T>(static_cast<T>(shifted << (kBits - width)) >> (kBits - width))};
}
template <class T>
T Mask(U32 width, U32 offset) {
  constexpr U32 kBits = 8 * sizeof(T);
  return static_cast<T>(((T{1} << (width % kBits)) - 1) << (offset % kBits));
}
U32 Reversed(U32 a) {
  U32 reversed = 0;
  for (U32 bit = 0; bit < 32; ++bit) reversed |= (a >> bit & 1) << (31 - bit);
  return reversed;
}
I32 SignBits(I32 a) {
  if (a == 0 || a == -1) return -1;
  return std::countl_zero(static_cast<U32>(a < 0 ? ~a : a));
}
WithScc<I32> Sum(I32 a, I32 b) {
  I32 sum = 0;
  bool overflows = __builtin_add_overflow(a, b, &sum);
  return {sum, overflows};
}
WithScc<I32> Difference(I32 a, I32 b) {
  I32 difference = 0;
  bool overflows = __builtin_sub_overflow(a, b, &difference);
  return {difference, overflows};
}
WithScc<U32> ShiftedSum(U32 a, U32 b, U32 count) {
  U64 sum = (U64{a} << count) + b;
  return {static_cast<U32>(sum), (sum >> 32) != 0};
}

#define BITWISE(name, T, expression) \
  {name, Scalar<[](T a, T b) { return Tested<T>{static_cast<T>(expression)}; }>},
#define SAVE_EXEC(name, expression) {name, SaveExec<[](U32 a, U32 exec) { return expression; }>},
#define COMPARE(suffix, T)                                            \
  {"s_cmp_eq_" suffix, Scalar<[](T a, T b) { return a == b; }>},      \
      {"s_cmp_lg_" suffix, Scalar<[](T a, T b) { return a != b; }>},  \
      {"s_cmp_gt_" suffix, Scalar<[](T a, T b) { return a > b; }>},   \
      {"s_cmp_ge_" suffix, Scalar<[](T a, T b) { return a >= b; }>},  \
      {"s_cmp_lt_" suffix, Scalar<[](T a, T b) { return a < b; }>},   \
      {"s_cmp_le_" suffix, Scalar<[](T a, T b) { return a <= b; }>},  \
      {"s_cmpk_eq_" suffix, Scalar<[](T a, T b) { return a == b; }>}, \
      {"s_cmpk_lg_" suffix, Scalar<[](T a, T b) { return a != b; }>}, \
      {"s_cmpk_gt_" suffix, Scalar<[](T a, T b) { return a > b; }>},  \
      {"s_cmpk_ge_" suffix, Scalar<[](T a, T b) { return a >= b; }>}, \
      {"s_cmpk_lt_" suffix, Scalar<[](T a, T b) { return a < b; }>},  \
      {"s_cmpk_le_" suffix, Scalar<[](T a, T b) { return a <= b; }>},

constexpr Row kRows[] = {
    {"s_mov_b32", Scalar<[](U32 a) { return a; }>},
    {"s_mov_b64", Scalar<[](U64 a) { return a; }>},
    {"s_cmov_b32", Scalar<[](U32 a, SccBit scc, Old<U32> old) { return scc.value ? a : old.value; }>},
    {"s_cmov_b64", Scalar<[](U64 a, SccBit scc, Old<U64> old) { return scc.value ? a : old.value; }>},
    {"s_not_b32", Scalar<[](U32 a) { return Tested<U32>{~a}; }>},
    {"s_not_b64", Scalar<[](U64 a) { return Tested<U64>{~a}; }>},
    {"s_brev_b32", Scalar<[](U32 a) { return Reversed(a); }>},
    {"s_brev_b64", Scalar<[](U64 a) {
       return U64{Reversed(static_cast<U32>(a))} << 32 | Reversed(static_cast<U32>(a >> 32));
     }>},
    {"s_bcnt0_i32_b32", Scalar<[](U32 a) { return Tested<U32>{static_cast<U32>(32 - std::popcount(a))}; }>},
    {"s_bcnt1_i32_b32", Scalar<[](U32 a) { return Tested<U32>{static_cast<U32>(std::popcount(a))}; }>},
    {"s_bcnt1_i32_b64", Scalar<[](U64 a) { return Tested<U32>{static_cast<U32>(std::popcount(a))}; }>},
    {"s_ctz_i32_b32", Scalar<[](U32 a) { return a ? std::countr_zero(a) : -1; }>},
    {"s_ctz_i32_b64", Scalar<[](U64 a) { return a ? std::countr_zero(a) : -1; }>},
    {"s_clz_i32_u32", Scalar<[](U32 a) { return a ? std::countl_zero(a) : -1; }>},
    {"s_clz_i32_u64", Scalar<[](U64 a) { return a ? std::countl_zero(a) : -1; }>},
    {"s_cls_i32", Scalar<[](I32 a) { return SignBits(a); }>},
    {"s_sext_i32_i8", Scalar<[](U32 a) { return I32{static_cast<int8_t>(a)}; }>},
    {"s_sext_i32_i16", Scalar<[](U32 a) { return I32{static_cast<int16_t>(a)}; }>},
    {"s_abs_i32",
     Scalar<[](I32 a) { return Tested<U32>{a < 0 ? 0u - static_cast<U32>(a) : static_cast<U32>(a)}; }>},
    {"s_bitset0_b32", Scalar<[](U32 a, Old<U32> old) { return old.value & ~(1u << (a % 32)); }>},
    {"s_bitset1_b32", Scalar<[](U32 a, Old<U32> old) { return old.value | 1u << (a % 32); }>},

    {"s_add_u32", Scalar<[](U32 a, U32 b) { return WithScc<U32>{a + b, a + b < a}; }>},
    {"s_sub_u32", Scalar<[](U32 a, U32 b) { return WithScc<U32>{a - b, b > a}; }>},
    {"s_add_i32", Scalar<[](I32 a, I32 b) { return Sum(a, b); }>},
    {"s_sub_i32", Scalar<[](I32 a, I32 b) { return Difference(a, b); }>},
    {"s_addc_u32", Scalar<[](U32 a, U32 b, SccBit carry) {
       U64 sum = U64{a} + b + carry.value;
       return WithScc<U32>{static_cast<U32>(sum), (sum >> 32) != 0};
     }>},
    {"s_subb_u32", Scalar<[](U32 a, U32 b, SccBit borrow) {
       return WithScc<U32>{a - b - borrow.value, U64{b} + borrow.value > a};
     }>},
    {"s_absdiff_i32",
     Scalar<[](I32 a, I32 b) { return Tested<U32>{static_cast<U32>(a > b ? I64{a} - b : I64{b} - a)}; }>},
    {"s_min_i32", Scalar<[](I32 a, I32 b) { return WithScc<I32>{std::min(a, b), a < b}; }>},
    {"s_max_i32", Scalar<[](I32 a, I32 b) { return WithScc<I32>{std::max(a, b), a >= b}; }>},
    {"s_min_u32", Scalar<[](U32 a, U32 b) { return WithScc<U32>{std::min(a, b), a < b}; }>},
    {"s_max_u32", Scalar<[](U32 a, U32 b) { return WithScc<U32>{std::max(a, b), a >= b}; }>},
    {"s_mul_i32", Scalar<[](U32 a, U32 b) { return a * b; }>},
    {"s_mul_hi_u32", Scalar<[](U32 a, U32 b) { return static_cast<U32>(U64{a} * b >> 32); }>},
    {"s_mul_hi_i32", Scalar<[](I32 a, I32 b) { return static_cast<I32>(I64{a} * b >> 32); }>},
    {"s_cselect_b32", Scalar<[](U32 a, U32 b, SccBit first) { return first.value ? a : b; }>},
    {"s_cselect_b64", Scalar<[](U64 a, U64 b, SccBit first) { return first.value ? a : b; }>},
    {"s_lshl_b32", Scalar<[](U32 a, U32 count) { return Tested<U32>{a << (count % 32)}; }>},
    {"s_lshr_b32", Scalar<[](U32 a, U32 count) { return Tested<U32>{a >> (count % 32)}; }>},
    {"s_ashr_i32", Scalar<[](I32 a, U32 count) { return Tested<I32>{a >> (count % 32)}; }>},
    {"s_lshl_b64", Scalar<[](U64 a, U32 count) { return Tested<U64>{a << (count % 64)}; }>},
    {"s_lshr_b64", Scalar<[](U64 a, U32 count) { return Tested<U64>{a >> (count % 64)}; }>},
    {"s_ashr_i64", Scalar<[](I64 a, U32 count) { return Tested<I64>{a >> (count % 64)}; }>},
    {"s_lshl1_add_u32", Scalar<[](U32 a, U32 b) { return ShiftedSum(a, b, 1); }>},
    {"s_lshl2_add_u32", Scalar<[](U32 a, U32 b) { return ShiftedSum(a, b, 2); }>},
    {"s_lshl3_add_u32", Scalar<[](U32 a, U32 b) { return ShiftedSum(a, b, 3); }>},
    {"s_lshl4_add_u32", Scalar<[](U32 a, U32 b) { return ShiftedSum(a, b, 4); }>},
    {"s_bfe_u32", Scalar<[](U32 a, U32 control) { return Field(a, control); }>},
    {"s_bfe_i32", Scalar<[](I32 a, U32 control) { return Field(a, control); }>},
    {"s_bfe_u64", Scalar<[](U64 a, U32 control) { return Field(a, control); }>},
    {"s_bfe_i64", Scalar<[](I64 a, U32 control) { return Field(a, control); }>},
    {"s_bfm_b32", Scalar<[](U32 width, U32 offset) { return Mask<U32>(width, offset); }>},
    {"s_bfm_b64", Scalar<[](U32 width, U32 offset) { return Mask<U64>(width, offset); }>},
    {"s_pack_ll_b32_b16", Scalar<[](U32 a, U32 b) { return (a & 0xFFFF) | b << 16; }>},
    {"s_pack_lh_b32_b16", Scalar<[](U32 a, U32 b) { return (a & 0xFFFF) | (b & 0xFFFF0000); }>},
    {"s_pack_hl_b32_b16", Scalar<[](U32 a, U32 b) { return a >> 16 | b << 16; }>},
    {"s_pack_hh_b32_b16", Scalar<[](U32 a, U32 b) { return a >> 16 | (b & 0xFFFF0000); }>},
    BITWISE("s_and_b32", U32, a& b)                  //
    BITWISE("s_and_b64", U64, a& b)                  //
    BITWISE("s_or_b32", U32, a | b)                  //
    BITWISE("s_or_b64", U64, a | b)                  //
    BITWISE("s_xor_b32", U32, a ^ b)                 //
    BITWISE("s_xor_b64", U64, a ^ b)                 //
    BITWISE("s_nand_b32", U32, ~(a& b))              //
    BITWISE("s_nand_b64", U64, ~(a& b))              //
    BITWISE("s_nor_b32", U32, ~(a | b))              //
    BITWISE("s_nor_b64", U64, ~(a | b))              //
    BITWISE("s_xnor_b32", U32, ~(a ^ b))             //
    BITWISE("s_xnor_b64", U64, ~(a ^ b))             //
    BITWISE("s_and_not1_b32", U32, a & ~b)           //
    BITWISE("s_and_not1_b64", U64, a & ~b)           //
    BITWISE("s_or_not1_b32", U32, a | ~b)            //
    BITWISE("s_or_not1_b64", U64, a | ~b)            //
    SAVE_EXEC("s_and_saveexec_b32", a& exec)         //
    SAVE_EXEC("s_or_saveexec_b32", a | exec)         //
    SAVE_EXEC("s_xor_saveexec_b32", a ^ exec)        //
    SAVE_EXEC("s_nand_saveexec_b32", ~(a& exec))     //
    SAVE_EXEC("s_nor_saveexec_b32", ~(a | exec))     //
    SAVE_EXEC("s_xnor_saveexec_b32", ~(a ^ exec))    //
    SAVE_EXEC("s_and_not0_saveexec_b32", ~a& exec)   //
    SAVE_EXEC("s_or_not0_saveexec_b32", ~a | exec)   //
    SAVE_EXEC("s_and_not1_saveexec_b32", a & ~exec)  //
    SAVE_EXEC("s_or_not1_saveexec_b32", a | ~exec)   //

    {"s_bitcmp0_b32", Scalar<[](U32 a, U32 bit) { return (a >> (bit % 32) & 1) == 0; }>},
    {"s_bitcmp1_b32", Scalar<[](U32 a, U32 bit) { return (a >> (bit % 32) & 1) != 0; }>},
    {"s_bitcmp0_b64", Scalar<[](U64 a, U32 bit) { return (a >> (bit % 64) & 1) == 0; }>},
    {"s_bitcmp1_b64", Scalar<[](U64 a, U32 bit) { return (a >> (bit % 64) & 1) != 0; }>},
    COMPARE("i32", I32)  //
    COMPARE("u32", U32)  //
    {"s_cmp_eq_u64", Scalar<[](U64 a, U64 b) { return a == b; }>},
    {"s_cmp_lg_u64", Scalar<[](U64 a, U64 b) { return a != b; }>},

    // SOPK: the destination is the first operand, the constant the second.
    {"s_movk_i32", Scalar<[](U32, I32 b) { return b; }>},
    {"s_cmovk_i32", Scalar<[](I32 a, I32 b, SccBit scc) { return scc.value ? b : a; }>},
    {"s_addk_i32", Scalar<[](I32 a, I32 b) { return Sum(a, b); }>},
    {"s_mulk_i32", Scalar<[](U32 a, I32 b) { return a * static_cast<U32>(b); }>},
};

}  // namespace

std::span<const Row> ScalarRows() {
  return kRows;
}

}  // namespace adc::rdna3

// Comparisons: a bit for each active lane, 0 for the others, to VCC, to a scalar register, or (v_cmpx) to
// EXEC.

#include "vector.h"

namespace adc::rdna3 {
namespace {

/// v_cmpx: the same to EXEC.
template <auto kFunction>
void ToExec(Wave& wave, const Instruction& instruction) {
  Instruction to_exec = instruction;
  to_exec.destination = kExec;
  EachLane<kFunction>(wave, to_exec);
}

enum NumberClass : uint32_t {
  kSignalingNan = 1 << 0,
  kQuietNan = 1 << 1,
  kMinusInfinity = 1 << 2,
  kMinusNormal = 1 << 3,
  kMinusDenormal = 1 << 4,
  kMinusZero = 1 << 5,
  kPlusZero = 1 << 6,
  kPlusDenormal = 1 << 7,
  kPlusNormal = 1 << 8,
  kPlusInfinity = 1 << 9,
};

template <class T>
uint32_t ClassOf(T x) {
  constexpr BitsOf<T> kQuiet = BitsOf<T>{1} << (sizeof(T) == 8 ? 51 : sizeof(T) == 4 ? 22 : 9);
  auto bits = std::bit_cast<BitsOf<T>>(x);
  if (x != x) return bits & kQuiet ? kQuietNan : kSignalingNan;
  bool minus = bits >> (8 * sizeof(T) - 1);
  if (x == T(0.0)) return minus ? kMinusZero : kPlusZero;
  if (std::isinf(static_cast<double>(x))) return minus ? kMinusInfinity : kPlusInfinity;
  if (IsDenormal(x)) return minus ? kMinusDenormal : kPlusDenormal;
  return minus ? kMinusNormal : kPlusNormal;
}

#define COMPARISON(name, type, condition)                              \
  {"v_cmp_" name, EachLane<[](type a, type b) { return condition; }>}, \
      {"v_cmpx_" name, ToExec<[](type a, type b) { return condition; }>},

#define ORDERED(suffix, type)            \
  COMPARISON("lt_" suffix, type, a < b)  \
  COMPARISON("eq_" suffix, type, a == b) \
  COMPARISON("le_" suffix, type, a <= b) \
  COMPARISON("gt_" suffix, type, a > b)  \
  COMPARISON("ge_" suffix, type, a >= b)

#define OF_INTEGERS(suffix, type) ORDERED(suffix, type) COMPARISON("ne_" suffix, type, a != b)

#define OF_FLOATS(suffix, type)                                                        \
  ORDERED(suffix, type)                                                                \
  COMPARISON("lg_" suffix, type, a<b || a> b)                                          \
  COMPARISON("o_" suffix, type, a == a && b == b)                                      \
  COMPARISON("u_" suffix, type, a != a || b != b)                                      \
  COMPARISON("nge_" suffix, type, !(a >= b))                                           \
  COMPARISON("nlg_" suffix, type, !(a < b || a > b))                                   \
  COMPARISON("ngt_" suffix, type, !(a > b))                                            \
  COMPARISON("nle_" suffix, type, !(a <= b))                                           \
  COMPARISON("neq_" suffix, type, !(a == b))                                           \
  COMPARISON("nlt_" suffix, type, !(a < b)){                                           \
      "v_cmp_class_" suffix,                                                           \
      EachLane<[](type a, uint32_t classes) { return (ClassOf(a) & classes) != 0; }>}, \
      {"v_cmpx_class_" suffix,                                                         \
       ToExec<[](type a, uint32_t classes) { return (ClassOf(a) & classes) != 0; }>},

constexpr Row kRows[] = {
    OF_FLOATS("f16", Half)        //
    OF_FLOATS("f32", float)       //
    OF_FLOATS("f64", double)      //
    OF_INTEGERS("i16", int16_t)   //
    OF_INTEGERS("u16", uint16_t)  //
    OF_INTEGERS("i32", int32_t)   //
    OF_INTEGERS("u32", uint32_t)  //
    OF_INTEGERS("i64", int64_t)   //
    OF_INTEGERS("u64", uint64_t)  //
};

}  // namespace

std::span<const Row> CompareRows() {
  return kRows;
}

}  // namespace adc::rdna3

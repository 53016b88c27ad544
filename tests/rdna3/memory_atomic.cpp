// Atomic operations, on global memory, flat addresses and LDS.

#include <algorithm>

#include "access.h"

namespace adc::rdna3 {
namespace {

// minNum and maxNum.
template <class T>
T LeastOf(T a, T b) {
  return a != a ? b : b < a ? b : a;
}
template <class T>
T GreatestOf(T a, T b) {
  return a != a ? b : b > a ? b : a;
}

#define OF_INTEGERS(prefix, space, suffix, Unsigned, Signed)                                             \
  {prefix "add_u" suffix, Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return a + b; }>},        \
      {prefix "sub_u" suffix, Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return a - b; }>},    \
      {prefix "min_u" suffix,                                                                            \
       Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return std::min(a, b); }>},                  \
      {prefix "max_u" suffix,                                                                            \
       Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return std::max(a, b); }>},                  \
      {prefix "min_i" suffix, Atomic<space, Signed, [](Signed a, Signed b) { return std::min(a, b); }>}, \
      {prefix "max_i" suffix, Atomic<space, Signed, [](Signed a, Signed b) { return std::max(a, b); }>}, \
      {prefix "and_b" suffix, Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return a & b; }>},    \
      {prefix "or_b" suffix, Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return a | b; }>},     \
      {prefix "xor_b" suffix, Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return a ^ b; }>},    \
      {prefix "inc_u" suffix,                                                                            \
       Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return a >= b ? Unsigned{0} : a + 1; }>},    \
      {prefix "dec_u" suffix,                                                                            \
       Atomic<space, Unsigned, [](Unsigned a, Unsigned b) { return a == 0 || a > b ? b : a - 1; }>},

// What the new value is comes before what the old one must be, in registers that follow each other.
#define GLOBAL_ATOMICS(prefix, space)                                                           \
  OF_INTEGERS(prefix, space, "32", uint32_t, int32_t)                                           \
  OF_INTEGERS(prefix, space, "64", uint64_t, int64_t){                                          \
      prefix "swap_b32", Atomic<space, uint32_t, [](uint32_t, uint32_t b) { return b; }>},      \
      {prefix "swap_b64", Atomic<space, uint64_t, [](uint64_t, uint64_t b) { return b; }>},     \
      {prefix "cmpswap_b32",                                                                    \
       Atomic<space, uint32_t,                                                                  \
              [](uint32_t a, uint32_t b, uint32_t wanted) { return a == wanted ? b : a; }>},    \
      {prefix "cmpswap_b64",                                                                    \
       Atomic<space, uint64_t,                                                                  \
              [](uint64_t a, uint64_t b, uint64_t wanted) { return a == wanted ? b : a; }>},    \
      {prefix "add_f32", Atomic<space, float, [](float a, float b) { return a + b; }>},         \
      {prefix "min_f32", Atomic<space, float, [](float a, float b) { return LeastOf(a, b); }>}, \
      {prefix "max_f32", Atomic<space, float, [](float a, float b) { return GreatestOf(a, b); }>},

#define SHARED_ATOMICS(prefix)                                                                             \
  OF_INTEGERS(prefix, Space::Shared, "32", uint32_t, int32_t)                                              \
  OF_INTEGERS(prefix, Space::Shared, "64", uint64_t, int64_t){                                             \
      prefix "add_f32", Atomic<Space::Shared, float, [](float a, float b) { return a + b; }>},             \
      {prefix "min_f32", Atomic<Space::Shared, float, [](float a, float b) { return LeastOf(a, b); }>},    \
      {prefix "max_f32", Atomic<Space::Shared, float, [](float a, float b) { return GreatestOf(a, b); }>}, \
      {prefix "min_f64", Atomic<Space::Shared, double, [](double a, double b) { return LeastOf(a, b); }>}, \
      {prefix "max_f64",                                                                                   \
       Atomic<Space::Shared, double, [](double a, double b) { return GreatestOf(a, b); }>},

#define COMPARE_AND_STORE(T) Atomic<Space::Shared, T, [](T a, T b, T wanted) { return a == wanted ? b : a; }>

constexpr Row kRows[] = {
    GLOBAL_ATOMICS("global_atomic_", Space::Global)  //
    GLOBAL_ATOMICS("flat_atomic_", Space::Flat)      //
    SHARED_ATOMICS("ds_")                            //
    // Those that return say so in their names ("ds_add_rtn_u32"): the decoder takes that out.
    {"ds_storexchg_b32", Atomic<Space::Shared, uint32_t, [](uint32_t, uint32_t b) { return b; }>},
    {"ds_storexchg_b64", Atomic<Space::Shared, uint64_t, [](uint64_t, uint64_t b) { return b; }>},
    {"ds_cmpstore_b32", COMPARE_AND_STORE(uint32_t)},
    {"ds_cmpstore_b64", COMPARE_AND_STORE(uint64_t)},
};

}  // namespace

std::span<const Row> AtomicRows() {
  return kRows;
}

}  // namespace adc::rdna3

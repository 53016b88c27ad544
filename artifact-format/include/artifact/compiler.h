#pragma once
// The format and the loader ask these things of the compiler beyond the language. Nothing else of theirs
// spells an attribute or a builtin that one of GCC, clang and Microsoft's compiler lacks: where these differ,
// they differ here.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#if defined(_MSC_VER) && !defined(__clang__)
#define ADC_ALWAYS_INLINE __forceinline
#define ADC_NEVER_INLINE __declspec(noinline)
#define ADC_RARE __declspec(noinline)
#else
#define ADC_ALWAYS_INLINE [[gnu::always_inline]] inline
#define ADC_NEVER_INLINE [[gnu::noinline]]
#define ADC_RARE [[gnu::cold, gnu::noinline]]
#endif

/// Before a function that calls code which was compiled elsewhere: a sanitizer finds no type information in
/// front of it.
#if defined(__clang__)
#define ADC_CALLS_FOREIGN_CODE __attribute__((no_sanitize("function")))
#else
#define ADC_CALLS_FOREIGN_CODE
#endif

namespace adc::artifact {

/// The same as below by the language alone, for compilers without builtins for it.
namespace portable {

template <std::integral T>
constexpr bool AddOverflows(T left, T right, T* sum) {
  using Bits = std::make_unsigned_t<T>;
  *sum = static_cast<T>(static_cast<Bits>(left) + static_cast<Bits>(right));
  if constexpr (std::is_unsigned_v<T>) return *sum < left;
  return ((left ^ *sum) & (right ^ *sum)) < 0;
}

template <std::integral T>
constexpr bool SubtractOverflows(T left, T right, T* difference) {
  using Bits = std::make_unsigned_t<T>;
  *difference = static_cast<T>(static_cast<Bits>(left) - static_cast<Bits>(right));
  if constexpr (std::is_unsigned_v<T>) return left < right;
  return ((left ^ right) & (left ^ *difference)) < 0;
}

template <std::integral T>
constexpr bool MultiplyOverflows(T left, T right, T* product) {
  using Bits = std::make_unsigned_t<T>;
  *product = static_cast<T>(static_cast<Bits>(left) * static_cast<Bits>(right));
  if (left == 0 || right == 0) return false;
  if constexpr (std::is_signed_v<T>) {
    // The one quotient that does not fit.
    if (left == -1) return right == std::numeric_limits<T>::min();
    if (right == -1) return left == std::numeric_limits<T>::min();
  }
  return *product / right != left;
}

}  // namespace portable

/// Whether left + right does not fit; `sum` is what fits of it.
template <std::integral T>
ADC_ALWAYS_INLINE bool AddOverflows(T left, std::type_identity_t<T> right, std::type_identity_t<T>* sum) {
#if defined(_MSC_VER) && !defined(__clang__)
  return portable::AddOverflows(left, right, sum);
#else
  return __builtin_add_overflow(left, right, sum);
#endif
}

template <std::integral T>
ADC_ALWAYS_INLINE bool SubtractOverflows(T left, std::type_identity_t<T> right,
                                         std::type_identity_t<T>* difference) {
#if defined(_MSC_VER) && !defined(__clang__)
  return portable::SubtractOverflows(left, right, difference);
#else
  return __builtin_sub_overflow(left, right, difference);
#endif
}

template <std::integral T>
ADC_ALWAYS_INLINE bool MultiplyOverflows(T left, std::type_identity_t<T> right,
                                         std::type_identity_t<T>* product) {
#if defined(_MSC_VER) && !defined(__clang__)
  return portable::MultiplyOverflows(left, right, product);
#else
  return __builtin_mul_overflow(left, right, product);
#endif
}

}  // namespace adc::artifact

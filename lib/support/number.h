#pragma once
// Numbers as bits: wrapping, rounding and printing. The same text on every machine.

#include <cstdint>
#include <string>

namespace adc {

enum class NumberKind : uint8_t { Truth, Signed, Unsigned, Float };

/// The meaning of the bits of a number. Truth: 1 bit; integers: 8, 16, 32 or 64; floats: 16, 32 or 64.
struct NumberForm {
  NumberKind kind = NumberKind::Truth;
  uint8_t width = 1;
};

/// `bits` cut to the width of an integer (or truth value) and extended again after its signedness.
uint64_t WrapInteger(NumberForm form, uint64_t bits);
/// The bits of `value` rounded to nearest even in a float format.
uint64_t FloatToBits(NumberForm form, double value);
/// The value of float bits; exact for every format.
double FloatFromBits(NumberForm form, uint64_t bits);
uint16_t HalfFromFloat(float value);
float FloatFromHalf(uint16_t half);

/// The shortest literal that reads back to the same bits: "42", "true", "0.1", "1e-06" never, "1e-6"; "inf",
/// "-inf", "nan". Floats always show a '.', an exponent, or inf/nan, so that they do not read as integers.
std::string PrintNumber(NumberForm form, uint64_t bits);

}  // namespace adc

#pragma once
// Scalar literals as bits: wrapping, rounding, reading and printing numbers. The same text on every machine.

#include <cstdint>
#include <string>

#include "ir/type.h"

namespace adc::ir {

/// `bits` cut to the width of an integer type (or i1) and extended again after its signedness.
uint64_t WrapInteger(Scalar scalar, uint64_t bits);
/// The bits of `value` rounded to nearest even in a float format.
uint64_t FloatToBits(Scalar scalar, double value);
/// The value of float bits; exact for every format.
double FloatFromBits(Scalar scalar, uint64_t bits);

/// The shortest literal that reads back to the same bits: "42", "true", "0.1", "1e-06" never, "1e-6"; "inf",
/// "-inf", "nan". Floats always show a '.', an exponent, or inf/nan, so that they do not read as integers.
std::string PrintNumber(Scalar scalar, uint64_t bits);

}  // namespace adc::ir

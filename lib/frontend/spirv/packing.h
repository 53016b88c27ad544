#pragma once
// Numbers that are packed into words, bits that are read as other numbers, exponents.

#include "frontend/spirv/builder.h"

namespace adc::frontend::spirv {

/// The bits of `value` as `to`, which may have another number of components: the first one is the lowest.
ir::Value BitsAs(KernelBuilder& b, ir::Value value, ir::Type to, diag::SourceSpan place);
/// Components from 0 or -1 to 1 as integers of `width` bits, in a word.
ir::Value Pack(KernelBuilder& b, ir::Value vector, uint32_t width, bool has_sign);
ir::Value Unpack(KernelBuilder& b, ir::Value word, uint32_t width, bool has_sign);
/// `value` times 2 to the power of an integer.
ir::Value TimesPowerOf2(KernelBuilder& b, ir::Value value, ir::Value exponent);
/// The exponent that leaves a factor from 0.5 on, below 1; 0 for 0. As integers of the width of `value`.
ir::Value ExponentOf(KernelBuilder& b, ir::Value value);

}  // namespace adc::frontend::spirv

#pragma once
// Numbers as bits: fields of integers, numbers that are packed into words, exponents.

#include "frontend/spirv/builder.h"

namespace adc::frontend::spirv {

/// The field of `count` bits from `offset` on, with the sign of its highest bit or without.
ir::Value BitField(KernelBuilder& b, ir::Value base, ir::Value offset, ir::Value count, bool has_sign);
/// `base` with the lowest bits of `what` in that field.
ir::Value WithBitField(KernelBuilder& b, ir::Value base, ir::Value what, ir::Value offset, ir::Value count);
/// The highest bit that is set; -1 for none.
ir::Value HighestBit(KernelBuilder& b, ir::Value v);
/// The highest bit that differs from the sign.
ir::Value HighestBitOfSigned(KernelBuilder& b, ir::Value v);
ir::Value LowestBit(KernelBuilder& b, ir::Value v);

/// The bits of `value` as `to`, which may have another number of components: the first one is the lowest.
ir::Value BitsAs(KernelBuilder& b, ir::Value value, ir::Type to, diag::SourceSpan place);
/// Numbers from 0 or -1 to 1 as those that integers of `width` bits stand for, and back.
ir::Value ToNormalised(KernelBuilder& b, ir::Value value, uint32_t width, bool has_sign);
ir::Value FromNormalised(KernelBuilder& b, ir::Value value, uint32_t width, bool has_sign);
/// Components from 0 or -1 to 1 as integers of `width` bits, in a word.
ir::Value Pack(KernelBuilder& b, ir::Value vector, uint32_t width, bool has_sign);
ir::Value Unpack(KernelBuilder& b, ir::Value word, uint32_t width, bool has_sign);
/// `value` times 2 to the power of an integer.
ir::Value TimesPowerOf2(KernelBuilder& b, ir::Value value, ir::Value exponent);
/// The exponent that leaves a factor from 0.5 on, below 1; 0 for 0. As integers of the width of `value`.
ir::Value ExponentOf(KernelBuilder& b, ir::Value value);

}  // namespace adc::frontend::spirv

#pragma once
// Integers as bits.

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

}  // namespace adc::frontend::spirv

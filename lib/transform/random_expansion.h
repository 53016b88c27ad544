#pragma once
// Random numbers as integer arithmetic, so that every target computes the same bits.

#include "transform/folding_builder.h"

namespace adc::transform {

/// The components of `random seed, counter [, stream] : type` (docs/ir.md, section 7), one per component of
/// `type`.
std::vector<ir::Value> ExpandRandom(FoldingBuilder& builder, std::span<const ir::Value> operands,
                                    ir::Type type);

}  // namespace adc::transform

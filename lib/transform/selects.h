#pragma once
// Branches of which both are cheap enough to compute.

#include <optional>
#include <vector>

#include "transform/folding_builder.h"

namespace adc::transform {

/// Where both branches of `choice`, an `if` whose regions yield and that stands last in the block of the
/// builder, are cheap (ir/cheap.h): moves what they hold to its place, and gives a select for each result.
std::optional<std::vector<ir::Value>> TakeAsSelects(FoldingBuilder& builder, ir::Inst choice);

}  // namespace adc::transform

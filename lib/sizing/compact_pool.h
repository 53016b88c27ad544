#pragma once
// The part of a pool of size expressions that a plan needs, without the expressions that were tried on the
// way.

#include <span>

#include "artifact/size_expr.h"

namespace adc::sizing {

/// Copies what `roots` reach into `to`, in an order that depends on the roots alone, and rewrites the roots.
void CompactPool(const artifact::SizeExprPool& from, artifact::SizeExprPool& to,
                 std::span<artifact::NodeId* const> roots);

}  // namespace adc::sizing

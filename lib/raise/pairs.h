#pragma once
// A sine and a cosine of one angle, which one call of a library gives.
//
//   %s = sin %a                   ->    %s = sin %a paired
//   %c = cos %a                         %c = cos %a paired

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: decisions marked (raise/decisions.h). Guarantees: operations that are `paired` follow one
/// another in their block as pairs, a `sin` and a `cos` of one operand, neither `as_written`. Breaks:
/// nothing.
void MarkPairs(ir::Module&, ir::Function& kernel, const RaiseConfig&);

}  // namespace adc::raise

#pragma once
// Products that a sum or difference may take in, as one operation that rounds once.
//
//   %p = mul %a, %b               ->    %p = mul %a, %b fuses
//   %s = add %p, %c                     %s = add %p, %c                  fma(a, b, c)
//
// The sum is all that reads the product, and decides nothing. Of two products it takes the first. A printer
// whose target contracts by itself does not read the word.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: decisions marked (raise/decisions.h). Guarantees: a product that is marked `fuses` has one use,
/// an `add` or `sub` of f32 or f64 that is not `as_written` and of whose operands no other is marked. Breaks:
/// nothing.
void MarkProducts(ir::Module&, ir::Function& kernel, const RaiseConfig&);

}  // namespace adc::raise

#pragma once
// The partial derivatives that forward mode does not multiply by a tangent of zero.
//
//   %r = norm %d      %q = rcp %r      where %d is 0 and does not move: 0, and not 0 times infinity
//
// A tangent of 0 contributes 0, whatever the partial is. The price is a comparison and a selection
// (strong_zero.h), and is due where a partial may be infinite or undefined at numbers: at singular
// operations and exponentials that overflow; and at what reads their results on the way to an operation that
// makes a number of an infinity. Elsewhere the value is infinite or undefined as well, and no branch drops
// it. Numbers from buffers, and sums and products of them, count as finite; local arrays are followed, as
// values that loops carry and branches hand on are.
//
// Requires: a function in Phase::Scalar. Breaks: nothing, it only looks. Linear time.

#include "ir/function.h"
#include "support/side_table.h"

namespace adc::autodiff {

IndexSet<ir::Inst> FindInfinitePartials(const ir::Function& function);

}  // namespace adc::autodiff

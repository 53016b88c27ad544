#pragma once
// SinkSingular: a value that only one branch reads is computed there, if its derivative may be infinite.
//
//   %r = rcp %x                              ->
//   if %c { ... %s = mul %r, %r  yield %s }        if %c { ... %r = rcp %x  %s = mul %r, %r  yield %s }
//
// Where the branch is not taken the adjoint of %r is 0, and 0 times the partial of `rcp` at 0 is NaN,
// although no result depends on %r. In the branch it has no adjoint at all there.
//
// Requires: a function in Phase::Scalar's form, simplified. Guarantees: the same results bit by bit. Breaks:
// nothing. A value that a loop reads stays outside of it, and so does one that both branches read. Linear
// time, times the depth to which branches are nested.

#include "ir/function.h"

namespace adc::transform {

void SinkSingular(ir::Module& module);

}  // namespace adc::transform

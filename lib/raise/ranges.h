#pragma once
// Finds the arithmetic of i32 that cannot wrap.
//
//   parallel %i in 0..1000 {             ->    parallel %i in 0..1000 {
//     %k = mul %i, 16                            %k = mul %i, 16 no_wrap
//     %o = add %k, 3                             %o = add %k, 3 no_wrap
//
// An index that is i32 in the IR becomes an address of 64 bits. Where its arithmetic cannot wrap, it may be
// done in 64 bits from the counter on, and the address is affine in the counter. The pass decides by an
// interval per value: of constants, counters, extents, and of values computed from them.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module; no pass after this one makes arithmetic. Guarantees: an operation
/// that is `no_wrap` has the same result over the integers. Breaks: nothing: it only adds words.
void MarkRanges(ir::Module& module, ir::Function& kernel, const RaiseConfig&);

}  // namespace adc::raise

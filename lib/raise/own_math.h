#pragma once
// Functions that the compiler's own code computes on a processor, in place of the mathematical library's.
//
//   parallel %i in 0..%n lanes_body lanes 8 {   ->   parallel %i in 0..%n lanes_body lanes 8 {
//     %s = sin %v                                      %s = sin %v own_math
//     ...                                              ...
//
// The library has no functions of vectors. Where a body of what is derived from one primal runs in lanes, all
// functions of all of them are our own: kernel, gradient and size kernel decide alike, whichever has lanes.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: bodies in lanes marked in all kernels of the module. Guarantees: the functions of a family of
/// kernels are all marked, or none of them is. Breaks: nothing: it only adds words.
void MarkOwnMath(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise

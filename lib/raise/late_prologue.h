#pragma once
// A value that a parallel task computes before its loop waits until an iteration reads it.
//
//   %a = load %m[0]                            parallel %i in 0..%n {
//   parallel %i in 0..%n {                       %v = load %x[%i]
//     %v = load %x[%i]                           if (gt %v, 0) {
//     if (gt %v, 0) { ... %a ... }       ->        %a = load %m[0]
//   }                                              ... %a ...
//
// On a device every thread runs the prologue, and most threads run one iteration or a few. A value that only
// a branch reads is then cheaper in the branch, and takes no register outside of it.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module. Guarantees: the new place of an instruction dominates its uses, and
/// is in no serial loop. Values that the loop's bounds and the cells of sums read stay, and so do function
/// calls (sin, pow) and guarded loads. Breaks: nothing.
void DelayPrologue(ir::Module&, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise

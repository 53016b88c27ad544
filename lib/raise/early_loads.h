#pragma once
// Loads of global memory go before a loop that fills a tape.
//
//   for %t in 0..%n { ... row.store ... }             %1 = load %y.adj[%i]
//   %1 = load %y.adj[%i]                      ->      %2 = load %x.adj[%i]
//   for %t in 0..%n reversed { ... }                  for %t in 0..%n { ... row.store ... }
//   add_to %x.adj[%i], %3 plain                       for %t in 0..%n reversed { ... }
//                                                     %4 = add %2, %3
//                                                     store %x.adj[%i], %4
//
// On a device a load waits for the writes that its thread has under way, so that one after a tape costs as
// much as writing the tape. Issued before, it has its value when that is read: measured on one GPU, a
// gradient that is bound by its tape takes half the time.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module. Guarantees: the operands of a moved load are made before the loop,
/// and no instruction between its old place and its new one writes that memory; at most 16 loads go before
/// one loop, as each takes a register for as long as the loop runs. Breaks: nothing.
void LoadEarly(ir::Module&, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise

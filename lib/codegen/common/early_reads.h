#pragma once
// Which reads of global memory go before a loop that fills a tape.
//
//   for %t in 0..%n { ... row.store ... }             %1 = load %y.adj[%i]
//   %1 = load %y.adj[%i]                      ->      %2 = what the update of %x.adj[%i] will read
//   for %t in 0..%n reversed { ... }                  for ...
//   add_to %x.adj[%i], %3 plain                       for ... reversed
//                                                     store %x.adj[%i], (add %2, %3)
//
// On a device a read waits for the writes that its thread has under way, so that one after a tape costs
// as much as writing the tape. Issued before, it is there when it is wanted: measured on one GPU, a gradient
// that is bound by its tape takes half the time.
//
// Requires: a lowered kernel. Guarantees: what a moved read needs is made before the loop, and nothing
// between its old place and its new one writes the memory that it reads. Breaks: nothing, it only looks.

#include <vector>

#include "ir/function.h"

namespace adc::codegen {

/// Per loop that stores into rows: the loads and plain updates after it, in its block, whose read can go
/// before it, in order.
SideTable<ir::Inst, std::vector<ir::Inst>> FindEarlyReads(const ir::Function& kernel);

}  // namespace adc::codegen

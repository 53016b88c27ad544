#pragma once
// Loops over the slots of a row whose turns a device's thread runs several at once.
//
//   for %t in 0..%n { ... row.load %row, 0, %t ... }   ->   for %t in 0..%n turns 4 { ... }
//
// The loads of different turns do not wait for one another, so that a thread has as many under way as there
// are copies of a short body.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module. Guarantees: the number of `turns` is a power of two, at least 2.
/// Breaks: nothing: a printer may run one turn at a time.
void MarkTurns(ir::Module&, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise

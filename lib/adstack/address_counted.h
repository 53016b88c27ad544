#pragma once
// AddressCounted: gives counted stacks slots where the slot is plain.
//
// A stack that one loop pushes once per iteration, and one later loop over the same bounds, reversed, pops
// once per iteration, needs no counter: the slot is the iteration's number.
//
//   for %t in 0..%n { stack.push %s, %a }
//   for %t in 0..%n reversed { %p = stack.pop %s }
//     ->  the same with `stack.push %s, %a at %t` and `stack.pop %s at %t`
//
// Requires: the kernel is verified. Guarantees: same values popped; stacks that do not fit keep their
// counter. Breaks: nothing.

#include "ir/builder.h"

namespace adc::adstack {

/// How many stacks got slots.
uint32_t AddressCounted(ir::Module& module, ir::Function& kernel);

}  // namespace adc::adstack

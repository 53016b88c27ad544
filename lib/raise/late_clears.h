#pragma once
// A store of a constant waits until the value that was loaded from its cell has been used.
//
//   %g = load %y.adj[%i]                       %g = load %y.adj[%i]
//   store %y.adj[%i], 0.0                      %v = load %x[%i]
//   %v = load %x[%i]                   ->      %p = mul %g, %v
//   %p = mul %g, %v                            add_to %a.adj[%i], %p plain
//   add_to %a.adj[%i], %p plain                store %y.adj[%i], 0.0
//
// Every gradient of a kernel that stores clears adjoints in this way. On NVIDIA's Hopper a store to a cell
// whose load is under way stalls, and the loads after it with it: measured in plain CUDA, a copy that clears
// the cells that it has read takes four times as long. A store of what was computed from the load cannot come
// too early.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module. Guarantees: the store goes down in its block, after the last
/// instruction that uses the loaded value or a value computed from it, or as far as no instruction that it
/// passes may touch its cell; a load on the other side of a loop has had its time, and its store stays.
/// Breaks: nothing.
void DelayClears(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise

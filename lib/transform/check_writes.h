#pragma once
// Makes a kernel check what `writeonce` promises.

#include "transform/pass.h"

namespace adc::transform {

/// Gives each `writeonce` buffer, and each field of a `writeonce` layout, that a primal kernel writes a
/// scratch parameter of flags: same shape, u32 components, zero at launch. Flag 2 says that the component was
/// read, flag 1 that it was written; who finds a flag when writing raises the status.
///
///   %v = load %x[%j]                          atomic or %x.writes[%j], 2
///   store %x[%i], %v                  ->      %v = load %x[%j]
///                                             store %x[%i], %v
///                                             %old = atomic or %x.writes[%i], 1
///                                             assert (eq %old, 0), writeonce "x"
///
/// A read marks before it reads and a write after it wrote, so that a write that another iteration does not
/// wait for is found when the read began first. Components count by themselves: they are what the kernel
/// accesses.
///
/// Requires: scalars in registers (Scalarise); derivatives made, since derived kernels read final values and
/// must not be made from the flags.
/// Guarantees: derived kernels stay as they are; what a kernel computes stays the same; tasks stand on their
/// own (a prologue that marks becomes a task). Parameters marked `alias` are checked each by itself. Breaks:
/// the launch needs memory for the flags. False after errors (E0305).
bool CheckWrites(ir::Module& module, diag::Diagnostics& diagnostics);

}  // namespace adc::transform

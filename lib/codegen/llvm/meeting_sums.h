#pragma once
// Sums of floats whose lanes may come to one cell or not, as data decide (`may_meet`, raise/private_sums.h).
//
//   atomicrmw fadd, marked        ->     do enough lanes have the cell of the last one?
//                                          yes: adc.flush (lane_flush.h)      no: the atomicrmw
//
// The sums stay one instruction while the module is optimised: so loops are unrolled around them, and loads
// pass them, as if nothing were asked.

#include "codegen/llvm/gpu_dialect.h"
#include "target/target.h"

namespace adc::codegen {

/// Marks an atomic update as one whose lanes may meet.
void MarkMayMeet(llvm::Instruction* update);

/// Expands the marked sums of a module that has been optimised. Neighbouring cells that are summed one after
/// the other ask once.
void ExpandMeetingSums(llvm::Module& module, const GpuDialect& wave, const target::Target& target);

}  // namespace adc::codegen

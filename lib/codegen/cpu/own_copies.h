#pragma once
// Copies of buffers in a worker's row, for the sums of a worker among others.
//
//   adc_k_t0(frame, begin, end):    ...
//                                   where the row has copies of %a.adj and %b.adj:
//                                     clears them; adc_k_t0.alone(frame with their addresses, begin, end)
//                                     atomically a.adj[...] += copy, where that is not zero
//
// The form for one worker makes sums without atomics: in copies of the buffers, of which the words that
// raising writes tell (raise/one_worker.h), it may run beside others.
//
// The metadata has a stack of each copy (StackMeta::param), whose capacity is the buffer's size where the
// launch has work enough for it, else 0. The loader leaves them out where one worker runs, or where the
// budget does not hold those of two.

#include "codegen/common/code.h"
#include "codegen/cpu/task.h"

namespace adc::codegen {

/// The buffers of which a worker needs copies so that it updates no cell that others may update.
SumCopies OwnCopies(const ir::Function& kernel, ir::Inst parallel);

/// Leaves the call to `alone`, on copies, where the row has them; goes on where it has not.
void EmitOwnCopies(const ir::Function& kernel, const SumCopies& copies, llvm::IRBuilder<>& builder,
                   CpuTask& hooks, llvm::Function* alone);

}  // namespace adc::codegen

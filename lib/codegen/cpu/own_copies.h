#pragma once
// Copies of small buffers, for the sums of a worker among others.
//
//   adc_k_t0(frame, begin, end):    ...
//                                   where copies of %a.adj and %b.adj are small enough:
//                                     zeros on the stack; adc_k_t0.alone(frame with their addresses, begin,
//                                     end) atomically a.adj[...] += copy, where that is not zero
//
// A loop that sweeps the cells of a buffer in every iteration misses a table of 128 of them each time. The
// form for one worker (alone.h) makes the same sums without atomics: in a copy of the buffer it may run
// beside others.

#include <cstdint>
#include <vector>

#include "codegen/common/config.h"
#include "codegen/cpu/task.h"

namespace adc::codegen {

/// The buffers, by parameter, of which a worker needs copies so that it updates no cell that others may
/// update; none where that is not enough, or where no loop inside `parallel` sweeps one of them. Each is
/// touched by additions alone.
std::vector<uint32_t> OwnCopies(const ir::Function& kernel, ir::Inst parallel);

/// Leaves the call to `alone`, on copies, where they are small; goes on where they are not.
void EmitOwnCopies(const ir::Function& kernel, std::span<const uint32_t> params, llvm::IRBuilder<>& builder,
                   CpuTask& hooks, llvm::Function* alone);

}  // namespace adc::codegen

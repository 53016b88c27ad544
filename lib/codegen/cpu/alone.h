#pragma once
// Tasks whose code has a form for one worker.
//
//   adc_k_t0(frame, begin, end):          if begin == 0 and end is the number of iterations:
//   adc_k_t0.alone(...)
//                                         else sums in tables of the worker's own, and atomically
//   adc_k_t0.alone(frame, begin, end):    plain additions to memory
//
// A worker that runs every iteration of a task in one call meets no other: launches that run at once share no
// memory. The loader deals all iterations at once where there is one worker. The range that a call is given
// tells the code, so that the calling convention says nothing of it. Where an inner loop sweeps cells, LLVM
// vectorises plain additions; where it leaves its cell alone, they stay in registers. It does neither with
// atomics and tables.
//
// The form costs code and the time to compile it. So there is one only where the sums are a good part of the
// work.

#include <cstdint>

#include "ir/function.h"

namespace adc::codegen {

/// Whether `inst` is an update of a cell that other iterations may update too, and no sum of the worker's own
/// into one cell.
bool UpdatesTogether(const ir::Function& kernel, ir::Inst inst);

/// What an iteration takes, roughly, in instructions.
struct WorkOfOne {
  uint64_t all = 0;
  uint64_t updates = 0;  ///< of `all`, for updates that one worker alone need not make as they are
  uint64_t own = 0;      ///< with plain updates, loops run as often as constants say
  bool known = true;     ///< constants say how often each loop runs
};
WorkOfOne WorkOf(const ir::Function& kernel, ir::Inst parallel);

/// How many iterations are worth waking a worker for; 0 where data decide what one takes.
uint32_t WorthOfWaking(const ir::Function& kernel, ir::Inst parallel);

/// Whether iterations of `parallel` update cells in which they may meet, other than by a sum of the worker's
/// own into one cell, and these updates take a good part of an iteration's time.
bool WantsFormForOne(const ir::Function& kernel, ir::Inst parallel);

}  // namespace adc::codegen

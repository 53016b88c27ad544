#pragma once
// The reports of compiled code in the status block: the numbers of artifact/cpu_abi.h and artifact/gpu_abi.h.

#include <cstdint>

#include "artifact/cpu_abi.h"
#include "artifact/status_codes.h"
#include "ir/function.h"

namespace adc::codegen {

/// Codes of the status block, common to all targets.
enum class StatusCode : uint32_t {
  AdstackOverflow = ADRT_CPU_ADSTACK_OVERFLOW,
  Assertion = ADRT_CPU_ASSERTION,
  IndexOutOfBounds = ADRT_CPU_INDEX_OUT_OF_BOUNDS,
  WritePromise = ADRT_CPU_WRITE_PROMISE_BROKEN,
  RowsExhausted = ADRT_GPU_ROWS_EXHAUSTED,
  BoundsMoved = ADRT_CPU_BOUNDS_MOVED,
  LoopsCut = ADRT_GPU_LOOPS_CUT,
};

/// The code that a `status.raise` reports.
inline StatusCode CodeOf(const ir::InstData& raise) {
  if (raise.Has(ir::Word::Access)) return StatusCode::IndexOutOfBounds;
  if (raise.Has(ir::Word::Assertion)) return StatusCode::Assertion;
  if (raise.Has(ir::Word::Promise)) return StatusCode::WritePromise;
  return StatusCode::AdstackOverflow;
}

/// The word with which a report asks to be the one that stays: not 0, and the same for all threads that
/// report the same of the same thing.
constexpr uint32_t StatusSource(StatusCode code, uint32_t task, uint32_t index) {
  bool fits = task <= ADRT_CPU_STATUS_SOURCE_MOST && index < ADRT_CPU_STATUS_SOURCE_MOST;
  uint32_t place = task << ADRT_CPU_STATUS_SOURCE_TASK | (index + 1) << ADRT_CPU_STATUS_SOURCE_INDEX;
  return static_cast<uint32_t>(code) | (fits ? place : 0);
}

}  // namespace adc::codegen

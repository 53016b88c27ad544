#pragma once
// The reports of compiled code in the status block: the numbers of artifact/cpu_abi.h and artifact/gpu_abi.h,
// which the fillers of the block check.

#include <cstdint>

#include "ir/function.h"

namespace adc::codegen {

/// Codes of the status block, common to all targets.
enum class StatusCode : uint32_t {
  AdstackOverflow = 1,
  Assertion = 2,
  IndexOutOfBounds = 3,
  WritePromise = 4,
  RowsExhausted = 5,
  BoundsMoved = 6,
  LoopsCut = 7,
};

/// The code that a `status.raise` reports.
inline StatusCode CodeOf(const ir::InstData& raise) {
  if (raise.Has(ir::Word::Access)) return StatusCode::IndexOutOfBounds;
  if (raise.Has(ir::Word::Assertion)) return StatusCode::Assertion;
  if (raise.Has(ir::Word::Promise)) return StatusCode::WritePromise;
  return StatusCode::AdstackOverflow;
}

inline constexpr uint32_t kSourceTask = 8, kSourceIndex = 20, kSourceMost = 0xFFF;

/// The word with which a report asks to be the one that stays: not 0, and the same for all threads that
/// report the same of the same thing.
constexpr uint32_t StatusSource(StatusCode code, uint32_t task, uint32_t index) {
  bool fits = task <= kSourceMost && index < kSourceMost;
  return static_cast<uint32_t>(code) | (fits ? task << kSourceTask | (index + 1) << kSourceIndex : 0);
}

}  // namespace adc::codegen

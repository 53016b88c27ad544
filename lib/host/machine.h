#pragma once
// The machine that this runs on.

#include <cstdint>

namespace adc {

/// Bytes of its memory.
uint64_t MemoryBytes();
/// The most memory that this process has had so far.
uint64_t PeakBytes();

}  // namespace adc

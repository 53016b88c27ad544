#pragma once
// The machine that this runs on.

#include <cstdint>

namespace adc {

/// Bytes of its memory.
uint64_t MemoryBytes();

}  // namespace adc

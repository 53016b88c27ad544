#pragma once
// SHA-256 by the instructions that most x86-64 processors of the last years have for it: a block takes a
// fifth of the time, and most of an open is the content id.

#include <cstddef>
#include <cstdint>

namespace adc::artifact {

/// Whether this processor has them. False on other kinds of processors.
bool HasSha256Instructions();

/// Takes `count` blocks of 64 bytes into `state`; only where the processor has the instructions.
void Sha256Blocks(uint32_t (&state)[8], const uint32_t (&rounds)[64], const uint8_t* blocks, size_t count);

}  // namespace adc::artifact

#pragma once
// A section's content as a zstd frame that readers accept.

#include <span>

#include "artifact/error.h"
#include "artifact/memory.h"

namespace adc::artifact {

/// One zstd frame, which may repeat what `prefix` holds, with the content size and neither checksum nor
/// dictionary, from one thread: the same bytes whatever the machine. Empty where compressing saves nothing.
/// The last `plain` bytes at least stay as they are in it, in blocks of their own, and more of them where the
/// ratio would pass what readers accept.
bool CompressSection(std::span<const uint8_t> bytes, std::span<const uint8_t> prefix, size_t plain,
                     Vector<uint8_t>* stored, Error* error);

}  // namespace adc::artifact

#pragma once
// The length of a bundle, from its first bytes: for readers of a stream whose end is not known.

#include <cstdint>
#include <span>

namespace adc::artifact {

/// Bytes of the bundle that begins with `head`, as its header states them; 0 where `head` is no header of a
/// bundle of this format, or is not all of it (kHeaderSize). Nothing else of the header is checked.
uint64_t BundleLength(std::span<const uint8_t> head);

}  // namespace adc::artifact

#pragma once
// libFuzzer's mutations inside of a bundle: half of the time of the content of one section, with the bundle
// made right around it, else of the bytes as they are, with or without their hashes put right.

#include <cstddef>
#include <cstdint>

namespace fuzz {

/// Changes the bundle in `bytes`, which may become up to `most` bytes long. Its new size; the same arguments
/// give the same bytes.
size_t MutateBundle(uint8_t* bytes, size_t size, size_t most, unsigned int seed);

}  // namespace fuzz

#pragma once
// A launch: work-groups of waves, run to their end.

#include <cstdint>
#include <span>
#include <string>

#include "code_object.h"

namespace adc::rdna3 {

struct LaunchConfig {
  uint32_t blocks = 1, block_size = 1;
  std::span<const uint8_t> arguments;
  uint64_t seed = 1;  ///< of garbage, and of which wave runs when
  /// Instructions of one wave, at most: what runs longer has no end.
  uint64_t most_instructions = uint64_t{1} << 32;
};

/// Instructions that were run.
struct LaunchCount {
  uint64_t instructions = 0;
};

/// Runs `kernel` of `code`. Some work-groups are there at once, and their waves take turns at random, so that
/// what is not atomic loses updates. Throws a Fault that names kernel, wave and instruction.
LaunchCount Launch(Memory& memory, CodeObject& code, const Kernel& kernel, const LaunchConfig& config);

}  // namespace adc::rdna3

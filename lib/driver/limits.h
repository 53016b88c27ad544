#pragma once
// Limits on the size and the cost of one compilation: checked before the cost arises, reported with the
// option that allows more (docs/limits.md).

#include <cstdint>

namespace adc::driver {

struct Limits {
  /// Most text, imports included; at most 4095.
  uint64_t text_mebibytes = 256;
  /// Most operations of one compilation, all kernels together: after inlining and unrolling, with vectors and
  /// matrices as scalars, and again with the derived kernels.
  uint64_t operations = 500'000;
  /// Most operations of one task that is optimised, a loop counted as `kOperationsOfLoop`. The time that
  /// LLVM's scheduler and register allocator take grows with the square of a task's size, the time of its
  /// analysis of loops with the square of their number; without them it grows with the size.
  uint64_t optimised = 10'000;
  /// Most processor time and memory for reading C++, GLSL, HLSL or SPIR-V, which other libraries do.
  uint64_t seconds = 60;
  uint64_t memory_mebibytes = 4096;
};

}  // namespace adc::driver

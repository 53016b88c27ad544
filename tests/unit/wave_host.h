#pragma once
// Code for GPUs run on this processor, so that what all GPUs share (task loops, rows, sums of waves) is
// tested where there is none: a dialect whose lanes are threads of this process, 32 of a wave at once, which
// exchange values at barriers.
//
// Which lanes run together is for hardware to say. Three answers are tried: each lane by itself, which is
// always true; four neighbours, or all of the wave, which is right where control does not diverge among them.

#include <barrier>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "artifact/gpu_abi.h"
#include "codegen/common/code.h"
#include "lowered.h"

namespace adc::test {

/// The number of neighbouring lanes that run together.
enum class Together : uint8_t { Alone = 1, Four = 4, Wave = 32 };

/// Kernels compiled for the wave of threads.
class WaveCode {
 public:
  WaveCode(const ir::Module& module, const std::vector<codegen::KernelToEmit>& kernels,
           codegen::CodeConfig config);
  ~WaveCode();

  const std::vector<std::vector<codegen::EntryCode>>& Entries() const { return entries_; }
  /// Runs an entry in blocks of its size, as many as `threads` need and one more. `words`: as
  /// artifact/gpu_abi.h has them.
  void Run(const codegen::EntryCode& entry, const std::vector<uint64_t>& words, uint64_t threads,
           Together together = Together::Alone) const;

 private:
  struct Jit;
  std::unique_ptr<Jit> jit_;
  std::vector<std::vector<codegen::EntryCode>> entries_;
};

/// The configuration of a GPU whose waves are 32 threads of this process.
codegen::CodeConfig WaveConfig(uint32_t optimise = 2, codegen::FloatMode mode = codegen::FloatMode::Strict);

}  // namespace adc::test

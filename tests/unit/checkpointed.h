#pragma once
// A gradient that keeps checkpoints, as the pipeline makes it.

#include "autodiff/checkpoint.h"
#include "autodiff/reverse.h"

namespace adc::test {

inline ir::Function* DeriveWithCheckpoints(ir::Module& module, ir::Function& primal,
                                           const autodiff::CheckpointConfig& checkpoints,
                                           diag::Diagnostics& diagnostics) {
  std::optional<autodiff::SegmentedKernel> segmented =
      autodiff::SegmentForCheckpoints(module, primal, checkpoints, true, {}, diagnostics);
  return autodiff::DeriveReverse(module, primal, {}, diagnostics, nullptr, segmented ? &*segmented : nullptr);
}

}  // namespace adc::test

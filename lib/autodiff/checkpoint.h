#pragma once
// Checkpointing: the kernel that a gradient with checkpoints is derived from.

#include <optional>

#include "diag/diagnostics.h"
#include "ir/function.h"
#include "transform/block_loops.h"

namespace adc::autodiff {

/// The options of the command line for loops without an attribute of their own.
struct CheckpointConfig {
  enum class Which : uint8_t {
    Marked,    ///< only loops with the attribute `checkpoint`
    All,       ///< every long loop that keeps a tape: segments of `length` iterations
    AtLaunch,  ///< every long loop that keeps a tape: segments as the launch says
  };
  Which which = Which::Marked;
  uint32_t length = 0;
  /// AtLaunch: a loop of constant trip count up to this keeps its tape in few bytes, and stays as it is.
  uint32_t few_trips = 64;
};

/// A primal whose long loops are loops over segments (transform/block_loops.h).
struct SegmentedKernel {
  ir::Function* primal = nullptr;
  ir::Function* segmented = nullptr;  ///< `<k>.segmented`, of the same module
};

/// Adds `<k>.segmented` to the module: a copy of `primal` whose long loops are blocked. Those are the ones
/// that are marked or asked for, and keep a tape, for which segments are shorter than the loop. Empty where
/// there are none, where `primal` has a gradient of the user's or none that would be right, and, with a
/// warning (W0402), where the proofs that the gradient rests on do not go through with indices counted by
/// segments.
///
/// Requires: Phase::Scalar. Guarantees: reverse mode can derive from the copy; the primal is not touched.
/// Breaks: nothing. `reread_stored`: as ReverseConfig has it.
std::optional<SegmentedKernel> SegmentForCheckpoints(ir::Module& module, ir::Function& primal,
                                                     const CheckpointConfig& config, bool reread_stored,
                                                     transform::FoldConfig fold,
                                                     diag::Diagnostics& diagnostics);

}  // namespace adc::autodiff

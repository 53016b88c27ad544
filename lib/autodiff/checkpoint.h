#pragma once
// Checkpointing: which loops of a kernel are blocked before it is differentiated.

#include "autodiff/needed.h"
#include "ir/module.h"
#include "transform/block_loops.h"

namespace adc::autodiff {

/// What the command line says about loops without an attribute of their own.
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

/// A copy of `kernel` whose long loops are blocked (transform/block_loops.h): those that are marked or asked
/// for, and keep a tape by `plan`, for which segments are shorter than the loop. Without a function where
/// there are none.
transform::BlockedLoops BlockForCheckpoints(ir::Module& module, const ir::Function& kernel,
                                            const RegionTree& tree, const NeededPlan& plan,
                                            const CheckpointConfig& config, transform::FoldConfig fold);

}  // namespace adc::autodiff

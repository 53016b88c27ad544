#pragma once
// Kernels that keep whole buffers as a task has left them, for gradients that read them in that state.

#include <span>
#include <string_view>

#include "ir/function.h"
#include "transform/folding_builder.h"
#include "transform/pass.h"

namespace adc::autodiff {

/// A read of a buffer in the state after a task, by a gradient: of the cells of an extremum (`atomic min` and
/// `max`), by which it finds the winner, or by a named vjp of the buffers that its function worked on.
struct FinalRead {
  ir::Inst reader;     ///< the extremum, or the call
  ir::Value base;      ///< a buffer
  uint32_t component;  ///< of its elements; kNoAttr where they are scalars
};

/// Appends a buffer of saved values to the parameters of `function`.
ir::Value AddSavedBuffer(ir::Module& module, ir::Function& function, ir::Type element, diag::SourceSpan span);

/// A copy of `function` that keeps the buffers of `reads` in buffers of saved values, after the top-level
/// instruction that holds each reader. FinalValues finds the copies.
///
/// Requires: Phase::Scalar. Breaks: values may cross from task to task.
std::unique_ptr<ir::Function> SaveFinalValues(ir::Module& module, const ir::Function& function,
                                              std::span<const FinalRead> reads, transform::FoldConfig fold);

/// The element of `base` that `indices` name, read from `copy`, which holds them all.
ir::Value LoadFinalValue(transform::FoldingBuilder& builder, ir::Value copy, ir::Value base,
                         std::span<const ir::Value> indices);

}  // namespace adc::autodiff

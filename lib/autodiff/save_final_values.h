#pragma once
// Kernels that keep what cells of extrema held, for gradients that find the winners by that.

#include <span>
#include <string_view>

#include "ir/function.h"
#include "transform/pass.h"

namespace adc::autodiff {

/// Appends a buffer of saved values to the parameters of `function`.
ir::Value AddSavedBuffer(ir::Module& module, ir::Function& function, ir::Type element, diag::SourceSpan span);

/// A copy of `function` that keeps the buffers of `extrema` (`atomic min` and `max` of buffers) in buffers of
/// saved values, behind what holds each extremum at the top level. FinalValues finds the copies.
///
/// Requires: Phase::Scalar. Breaks: values may cross from task to task.
std::unique_ptr<ir::Function> SaveFinalValues(ir::Module& module, const ir::Function& function,
                                              std::span<const ir::Inst> extrema, transform::FoldConfig fold);

}  // namespace adc::autodiff

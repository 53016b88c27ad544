#pragma once
// Kernels that save what their gradients read of memory that is overwritten.

#include <functional>

#include "diag/diagnostics.h"
#include "ir/function.h"
#include "transform/pass.h"

namespace adc::autodiff {

struct SaveConfig {
  /// Values of every buffer that the kernel writes are saved; else only those of parameters marked `save`. A
  /// kernel of which one cannot be saved, and need not be while its buffers are as it leaves them, is told to
  /// `left` (W0462).
  bool overwritten = false;
  std::function<void(const ir::Function&)> left = [](const ir::Function&) {};
  /// The gradient will be differentiated in turn, which saved values do not allow (E0452).
  bool differentiated_again = false;
  /// A kernel of which a value cannot be saved stays as it is, without an error.
  bool optional = false;
  /// The kernels that save; empty: all.
  std::function<bool(const ir::Function&)> saves = {};
  transform::FoldConfig fold = {};
};

/// Makes the primal kernels of `module` store what their gradients read of memory that does not last: loads
/// of buffers that the kernel writes, old values that atomics of integers return, and buffers in which an
/// `atomic min` or `max` has a winner or of which a named vjp reads (save_final_values.h). Each parallel
/// task, and each serial loop at the top level, that has such values gets one buffer per scalar type:
///
///   %a = load %x[%i]                    %a = load %x[%i]
///   store %x[%i], (f %a)          =>    store %saved.f32[(cast %i to i64)], %a
///                                       store %x[%i], (f %a)
///
/// The slot is the number of the iteration, of all loops around, after the slots of the values before. Where
/// a loop's bounds are data, the number of an element that its index names takes its place (slot_bounds.h).
/// The gradient reads the slot (autodiff/stored.h), so that it runs in any later state of the saved buffers.
///
/// Requires: Phase::Scalar. Guarantees: a value that is saved is stored in the block that makes it; slots of
/// different values and iterations differ and begin at 0. Breaks: nothing. Errors: E0450 where arguments and
/// shapes do not bound how often a loop around runs, E0452; W0462. False after an error.
bool SaveOverwritten(ir::Module& module, const SaveConfig& config, diag::Diagnostics& diagnostics);

}  // namespace adc::autodiff

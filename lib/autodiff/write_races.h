#pragma once
// Stores of two iterations of one parallel loop to one element.

#include "autodiff/activity.h"
#include "diag/diagnostics.h"

namespace adc::autodiff {

/// Reports stores of `kernel` that several iterations of a parallel loop provably, or possibly, send to one
/// element. `activity` is that of a kernel whose gradient is derived, and null for any other. False after an
/// error. write_races.cpp says which of these are errors and which are warnings.
bool CheckWriteRaces(const ir::Module& module, const ir::Function& kernel, const Activity* activity,
                     diag::Diagnostics& diagnostics);

}  // namespace adc::autodiff

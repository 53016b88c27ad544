#pragma once
// The kernels of a file that Clang has read.

#include <clang/AST/ASTContext.h>

#include "diag/diagnostics.h"
#include "frontend/cpp/places.h"
#include "ir/function.h"

namespace adc::frontend {

/// Appends every function after ADC_KERNEL to `module`, in the order of the file, and the functions with
/// derivatives of their own that they call. A construct that cannot be lowered is reported, and so is a
/// kernel that becomes larger than the limit.
void LowerKernels(clang::ASTContext& context, ir::Module& module, Places& places,
                  diag::Diagnostics& diagnostics, uint64_t operation_limit);

}  // namespace adc::frontend

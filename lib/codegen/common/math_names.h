#pragma once
// Names of mathematical functions in libraries.

#include "ir/op.h"

namespace adc::codegen {

/// The name in C and OpenCL C of the function of an operation that is no instruction: sin to erf, pow, atan2,
/// float rem. C's is that of f64; its f32 appends an f.
const char* MathName(ir::Op op);

}  // namespace adc::codegen

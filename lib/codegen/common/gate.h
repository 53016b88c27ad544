#pragma once
// Whether most iterations of a parallel loop are likely to have nothing to do: fields of floats are often
// zero almost everywhere.
//
//   parallel %i in 0..%n { %m = load %mass[%i]  if (gt %m, 1e-15) { ... much ... } }

#include "ir/function.h"

namespace adc::codegen {

/// True where all that `loop` does, but for loads and arithmetic, is in one branch, whose other side does
/// nothing and whose condition compares a float.
bool HasGate(const ir::Function& kernel, ir::Inst loop);

}  // namespace adc::codegen

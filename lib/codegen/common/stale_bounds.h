#pragma once
// Whether how often a `parallel` runs may have changed since its launch was sized.
//
//   %c = load %n[]                launched: 100 iterations, by what %n held then
//   parallel %i in 0..%c { }      met: 10 iterations, by what it holds now
//
// The launcher deals the iterations, from an expression over what it could see. Where that reads memory, the
// code compares what it was dealt with its own bounds before the first iteration, so that none runs past a
// bound that has moved: the launch reports StatusCode::BoundsMoved with the number that its bounds give now.

#include "ir/function.h"

namespace adc::codegen {

/// True where a bound of the `parallel` follows from memory. Its task's prologue (analysis/tasks.h) holds no
/// load of memory that the loop writes, so that all threads of a launch find the same.
bool BoundsReadMemory(const ir::Function& kernel, ir::Inst parallel);

}  // namespace adc::codegen

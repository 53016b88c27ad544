#pragma once
// Accesses that follow the flat iteration of a parallel loop.
//
//   parallel %i, %j in 0..(shape %x, 1), 0..(shape %x, 2) { ... load %x[%t, %i, %j] }
//
// reads element t * (shape 1) * (shape 2) + iteration: no division tells i and j apart.

#include "ir/function.h"

namespace adc::codegen {

/// Whether the last indices of `access`, to a buffer, are the counters of the parallel loop `loop`, all of
/// them in their order, and each counts from 0 to the extent of the axis that it indexes (the outermost may
/// end anywhere).
bool IsFlat(const ir::Function& kernel, ir::Inst loop, ir::Inst access);

/// Where the counters of `loop` must be told apart, since more than flat accesses uses them: its body, or the
/// one branch in its body that all such uses lie in; invalid where there is none.
ir::Block BlockOfCounters(const ir::Function& kernel, ir::Inst loop);

}  // namespace adc::codegen

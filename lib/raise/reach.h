#pragma once
// The distance of iterations that meet in a cell.
//
//   parallel %i in 1..%n { add_to %x.adj[%i - 1], %a; add_to %x.adj[%i], %b; add_to %x.adj[%i + 1], %c }
//
// Iterations i and k of a stencil's adjoint meet where |i - k| <= 2. A call that is given [begin, end) meets
// others only in its first two iterations and in its last two: all those between need no atomics. Along
// several axes the distance is one in the flat range: the sum over axes of reach times the iterations inside.

#include <cstdint>
#include <vector>

#include "ir/function.h"

namespace adc::raise {

/// Whether `inst` is an update of a cell that other iterations may update too, and no sum of the worker's own
/// into one cell.
bool UpdatesTogether(const ir::Function& kernel, ir::Inst inst);

/// The largest reach that is looked at. A longer one leaves nothing between the ends of a call anyway.
inline constexpr int64_t kLongestReach = 1 << 18;

/// Along each axis of `parallel`, how far apart two iterations may be that update one cell; empty where that
/// is not known. Each update that may meet others has every index of the loop, but for a constant, as an
/// index of its own.
std::vector<uint32_t> ReachOf(const ir::Function& kernel, ir::Inst parallel);

}  // namespace adc::raise

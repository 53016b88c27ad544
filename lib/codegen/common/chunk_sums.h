#pragma once
// Sums into one cell from every iteration of a parallel loop.
//
//   parallel %i in 0..%n { ...  atomic add %loss[], %v }
//
// One atomic per iteration makes every worker wait for the same cache line. The iterations that one worker
// runs in a row may sum in a register first and touch the cell once, provided that nobody can see the
// difference: inside the task, the buffer is touched by accumulations of the same kind alone, and none of
// them uses the old value. The same holds for minima, maxima and bitwise reductions. Where every access names
// its cell by literals (the counts of a size kernel), each cell is a matter of its own.
//
// Where the cell changes, but not with every index of the loop, many iterations still meet in one cell:
//
//   parallel %i, %b in 0..%n, 0..2 { ...  add_to %pose.adj[%b], %v }
//
// Such sums are *gathered*: a worker has the cells that it met last and their sums in a small table of its
// own, one per buffer or field, and flushes a sum when another cell takes its place or the call ends.
//
// Requires: a task of a lowered kernel. Guarantees: the address of a sum is made of values from outside the
// parallel loop. Breaks: nothing, it only looks.

#include <optional>
#include <vector>

#include "ir/function.h"

namespace adc::codegen {

enum class Reduction : uint8_t { Add, Min, Max, And, Or, Xor };

struct ChunkSum {
  ir::Inst first;  ///< the first of its accumulations: says base, indices, field, component
  Reduction reduction = Reduction::Add;
  bool conditional = false;  ///< there may be iterations and none of them accumulates
};

struct ChunkSums {
  std::vector<ChunkSum> sums;
  SideTable<ir::Inst, uint32_t> sum_of{0, ir::kNoAttr};  ///< accumulation -> position in `sums`
  std::vector<ir::Inst> gathered;  ///< one accumulation per place whose sums are gathered
  SideTable<ir::Inst, uint32_t> gathered_of{0, ir::kNoAttr};  ///< accumulation -> position in `gathered`
};

/// The kind of reduction that an accumulating access makes; empty for other operations.
std::optional<Reduction> ReductionOf(ir::Op op);

/// The sums of the parallel loop `loop` of `kernel`, whose task begins at position `first` of the body.
ChunkSums FindChunkSums(const ir::Function& kernel, uint32_t first, ir::Inst loop);

}  // namespace adc::codegen

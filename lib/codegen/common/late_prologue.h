#pragma once
// Which instructions of a parallel task's prologue can wait until an iteration needs them.
//
//   %a = load %m[0]                            parallel %i in 0..%n {
//   parallel %i in 0..%n {                       %v = load %x[%i]
//     %v = load %x[%i]                           if (gt %v, 0) {
//     if (gt %v, 0) { ... %a ... }       ->        %a = load %m[0]
//   }                                              ... %a ...
//
// On a device every thread runs the prologue, and most threads run one iteration or a few. What only a branch
// uses is then cheaper in the branch, and takes no register outside of it.
//
// Requires: a task of a lowered kernel. Guarantees: where an instruction goes dominates its uses, and is in
// no serial loop. What the loop's bounds need, what the cells of sums need, and function calls (sin, pow)
// stay. Breaks: nothing, it only looks.

#include "codegen/common/chunk_sums.h"

namespace adc::codegen {

/// For each instruction in the prologue of `loop`, which begins at position `first` of the body, that can
/// wait: the block at whose beginning it can be made; invalid for all other instructions.
SideTable<ir::Inst, ir::Block> FindLatePrologue(const ir::Function& kernel, uint32_t first, ir::Inst loop,
                                                const ChunkSums& sums);

}  // namespace adc::codegen

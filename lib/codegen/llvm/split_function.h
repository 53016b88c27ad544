#pragma once
// Cuts pieces out of a function of LLVM's and makes functions of them.
//
// A value that crosses from one piece to another passes through a frame: memory on the stack of the whole
// function, whose address each piece is given. It is stored once, where it is made, and loaded once in each
// piece that reads it. A value that is loaded from the caller's arguments at the entry is loaded again
// instead. Arrays of the function lie in the frame too.
//
//   entry:  %p = invariant load ...               entry:    %frame = alloca
//   piece:  %a = fmul ...                                   call @f.piece0(%frame, args)
//   end:    br piece2                        =>             call @f.piece1(%frame, args)
//   piece2: use %a, %p                            @f.piece1: %p = invariant load ...  %a = load %frame + 8
//
// Requires: each piece is entered at its first block alone, from one place, which has no phi, and left to
// `end` alone, which has none either; its blocks stand in a row in the function, in front of `end`; pieces
// nest. Guarantees: the same values; the same bytes for the same input. Breaks: analyses of the function.

#include <span>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"

namespace adc::codegen {

struct Piece {
  llvm::BasicBlock* begin = nullptr;
  llvm::BasicBlock* end = nullptr;
};

/// How pieces nest, by number from 1 on; 0 is the code that stands in none.
struct PieceTree {
  std::vector<uint32_t> around;                          ///< by piece: the innermost one around it
  llvm::DenseMap<const llvm::BasicBlock*, uint32_t> of;  ///< by block: the innermost one
};
PieceTree PieceTreeOf(llvm::Function& function, std::span<const Piece> pieces);

/// `pieces` in the order of their ends: a piece inside of another one stands before it.
void SplitFunction(llvm::Function& function, std::span<const Piece> pieces);

}  // namespace adc::codegen

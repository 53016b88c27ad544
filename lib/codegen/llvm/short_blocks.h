#pragma once
// ShortBlocks: an LLVM pass that cuts long basic blocks, for code that is not optimised.
//
// LLVM's fast register allocator forgets its values at the end of a block, and at each call looks at all that
// the block has had so far: calls times values. A task of 20,000 calls in one block took 40 % of its time
// there, and one of 50,000 more than all else. In blocks of a bounded length that is linear.
//
// Requires: nothing. Guarantees: the same results; no block has more than `kLongestBlock` instructions after
// its phi nodes and allocas. Breaks: nothing. The allocas of a first block stay in it.

#include "llvm/IR/PassManager.h"

namespace adc::codegen {

/// Most instructions of a block, without phi nodes, allocas and the jump to the next piece.
inline constexpr size_t kLongestBlock = 256;

struct ShortBlocks : llvm::PassInfoMixin<ShortBlocks> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace adc::codegen

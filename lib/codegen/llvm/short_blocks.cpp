#include "codegen/llvm/short_blocks.h"

#include <vector>

#include "llvm/IR/Instructions.h"

namespace adc::codegen {

namespace {

/// Where `block` is cut, the first place first.
std::vector<llvm::Instruction*> Cuts(llvm::BasicBlock& block) {
  std::vector<llvm::Instruction*> cuts;
  size_t length = 0;
  for (llvm::Instruction& instruction : block) {
    // Allocas have a fixed place in a frame only in the first block: the instructions before the last one
    // stay.
    if (llvm::isa<llvm::AllocaInst>(instruction)) cuts.clear();
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction)) {
      length = 0;
      continue;
    }
    if (length == kLongestBlock && !instruction.isTerminator()) {
      cuts.push_back(&instruction);
      length = 0;
    }
    ++length;
  }
  return cuts;
}

}  // namespace

llvm::PreservedAnalyses ShortBlocks::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock& block : function) blocks.push_back(&block);
  for (llvm::BasicBlock* block : blocks) {
    std::vector<llvm::Instruction*> cuts = Cuts(*block);
    // From the end, so that each instruction moves once.
    for (size_t n = cuts.size(); n > 0; --n) block->splitBasicBlock(cuts[n - 1]->getIterator());
    changed |= !cuts.empty();
  }
  return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

}  // namespace adc::codegen

#include "codegen/llvm/loads_early.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"

namespace adc::codegen {
namespace {

/// Loads that one block may move: each holds a register until it is used.
constexpr uint32_t kMostLoads = 32;
/// Writers that one load is compared with.
constexpr uint32_t kMostWriters = 64;

/// The instructions that `load` needs among those after `place` in its block, in order; empty where one of
/// them cannot move there. `load` itself comes last.
llvm::SmallVector<llvm::Instruction*, 8> Needed(llvm::LoadInst* load, llvm::Instruction* place) {
  llvm::SmallVector<llvm::Instruction*, 8> needed{load};
  llvm::SmallPtrSet<llvm::Instruction*, 8> seen{load};
  for (size_t next = 0; next < needed.size(); ++next) {
    for (llvm::Value* operand : needed[next]->operands()) {
      auto* made = llvm::dyn_cast<llvm::Instruction>(operand);
      if (made == nullptr || made->getParent() != load->getParent() || made->comesBefore(place)) continue;
      if (llvm::isa<llvm::PHINode>(made) || made->mayReadOrWriteMemory() ||
          !llvm::isSafeToSpeculativelyExecute(made))
        return {};
      if (seen.insert(made).second) needed.push_back(made);
    }
  }
  llvm::sort(needed, [](llvm::Instruction* a, llvm::Instruction* b) { return a->comesBefore(b); });
  return needed;
}

bool MoveLoads(llvm::BasicBlock& block, llvm::AAResults& aliases) {
  llvm::SmallVector<llvm::Instruction*, 16> writers;
  llvm::SmallVector<llvm::LoadInst*, 16> loads;
  for (llvm::Instruction& instruction : block) {
    if (instruction.mayWriteToMemory()) writers.push_back(&instruction);
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load != nullptr && load->isSimple() && !writers.empty()) loads.push_back(load);
  }
  if (writers.size() > kMostWriters) return false;
  uint32_t moved = 0;
  for (llvm::LoadInst* load : loads) {
    if (moved == kMostLoads) break;
    llvm::MemoryLocation location = llvm::MemoryLocation::get(load);
    llvm::Instruction* place = nullptr;  // the first of the writers that it may pass
    for (llvm::Instruction* writer : llvm::reverse(writers)) {
      if (load->comesBefore(writer)) continue;
      if (llvm::isModSet(aliases.getModRefInfo(writer, location))) break;
      if (!llvm::isGuaranteedToTransferExecutionToSuccessor(writer)) break;
      place = writer;
    }
    if (place == nullptr) continue;
    llvm::SmallVector<llvm::Instruction*, 8> needed = Needed(load, place);
    for (llvm::Instruction* instruction : needed) instruction->moveBefore(place);
    if (!needed.empty()) ++moved;
  }
  return moved != 0;
}

}  // namespace

llvm::PreservedAnalyses LoadsEarly::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& aliases = analyses.getResult<llvm::AAManager>(function);
  bool changed = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->getNumBlocks() == 1) changed = MoveLoads(*loop->getHeader(), aliases) || changed;
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace adc::codegen

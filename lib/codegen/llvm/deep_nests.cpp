#include "codegen/llvm/deep_nests.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace adc::codegen {

namespace {

/// A phi node at the head of a loop, to which the loop adds.
bool IsCounter(const llvm::PHINode& phi, const llvm::LoopInfo& loops) {
  if (!loops.isLoopHeader(phi.getParent())) return false;
  return llvm::any_of(phi.incoming_values(), [&](const llvm::Value* value) {
    auto* next = llvm::dyn_cast<llvm::BinaryOperator>(value);
    return next && llvm::is_contained(next->operand_values(), &phi);
  });
}

/// Whether the analysis takes the result for a value of its own, for any operands.
bool IsOpaque(const llvm::Instruction& instruction) {
  if (!instruction.getType()->isIntegerTy() || llvm::isa<llvm::LoadInst>(instruction)) return true;
  return llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::MinMaxIntrinsic>(instruction);
}

}  // namespace

uint32_t DependentLoops(llvm::Function& function, const llvm::LoopInfo& loops) {
  if (loops.empty()) return 0;
  uint32_t most = 0;
  llvm::SmallPtrSet<const llvm::Value*, 32> derived;  // from counters, and counters
  llvm::DenseMap<const llvm::Loop*, uint32_t> dependent;
  // In this order the values that a loop begins with come before it, and those of its turns after its head.
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) {
    bool begins_at_counter = false;
    for (llvm::Instruction& instruction : *block) {
      if (IsOpaque(instruction)) continue;
      bool is_derived = llvm::any_of(instruction.operand_values(),
                                     [&](const llvm::Value* operand) { return derived.contains(operand); });
      auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
      bool is_counter = phi && IsCounter(*phi, loops);
      begins_at_counter |= is_counter && is_derived;
      if (is_counter || is_derived) derived.insert(&instruction);
    }
    if (!loops.isLoopHeader(block)) continue;
    const llvm::Loop* loop = loops.getLoopFor(block);
    uint32_t count = dependent.lookup(loop->getParentLoop()) + begins_at_counter;
    dependent[loop] = count;
    most = std::max(most, count);
  }
  return most;
}

llvm::PreservedAnalyses MarkDeepNests::run(llvm::Function& function,
                                           llvm::FunctionAnalysisManager& analyses) {
  if (DependentLoops(function, analyses.getResult<llvm::LoopAnalysis>(function)) > kMostDependentLoops) {
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::OptimizeNone);
  }
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses ForShallowNests::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& analyses) {
  return function.hasOptNone() ? llvm::PreservedAnalyses::all() : passes_.run(function, analyses);
}

}  // namespace adc::codegen

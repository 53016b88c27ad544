#pragma once
// LoadsEarly: an LLVM pass for devices that moves the loads of short loops before what writes.
//
// Several turns of a loop run as one block; their loads should be under way together. The device's compiler
// could order them so, but does not know which memory overlaps: after an atomic update, every load waits.
// Here it is known.
//
//   load a; atomic add p; load b; atomic add q    ->    load a; load b; atomic add p; atomic add q
//
// Requires: blocks as the optimiser leaves them. Guarantees: the same results. Breaks: nothing but the order.

#include "llvm/IR/PassManager.h"

namespace adc::codegen {

struct LoadsEarly : llvm::PassInfoMixin<LoadsEarly> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace adc::codegen

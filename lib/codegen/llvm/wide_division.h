#pragma once
// WideDivision: an LLVM pass that computes divisions of more than 64 bits in place.
//
// No kernel has such a type, but the optimiser counts the iterations of a loop of 64 bits in 65 and more
// where its counter may wrap, and divides by the step. Processors would call `__udivti3` for that, which no
// image may import.
//
//   udiv i128 %n, 7    ->    by a constant below 2^32: digit by digit, with divisions of 64 bits
//   udiv i128 %n, %d   ->    bit by bit, by LLVM's own expansion
//
// Requires: nothing runs after it that makes new ones. Guarantees: the same results, and no `udiv`, `sdiv`,
// `urem` or `srem` of more than 64 bits. Breaks: nothing.

#include "llvm/IR/PassManager.h"

namespace adc::codegen {

struct WideDivision : llvm::PassInfoMixin<WideDivision> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace adc::codegen

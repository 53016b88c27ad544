#pragma once
// Functions whose loops LLVM's analysis would take exponential time for.
//
// A loop's counter may begin at the counter of the loop around it, that one at the next, and so on. To
// compare two such counters, ScalarEvolution of LLVM 19 compares what they begin at, with a proof by
// induction at each step that asks the same again: three times the work for each such loop of a nest. 12 took
// 2 seconds, and 18 took minutes, in the optimiser and, for the reduction of strength, in code generators.
//
//   for %t1 in 0..%t0 reversed { for %t2 in 0..%t1 reversed { ... } }

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/PassManager.h"

namespace adc::codegen {

/// Most loops of one nest, each with a counter that begins at a value computed from another counter, that are
/// analysed.
inline constexpr uint32_t kMostDependentLoops = 8;

/// The largest number of such loops around one place, in one walk over the function.
uint32_t DependentLoops(llvm::Function& function, const llvm::LoopInfo& loops);

/// Keeps code generators from analysing the loops of functions beyond the limit, and ForShallowNests too.
/// Requires: functions that call it were inlined already. Breaks: nothing. Others stay as they are.
struct MarkDeepNests : llvm::PassInfoMixin<MarkDeepNests> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Runs `passes`, which ask ScalarEvolution, on functions that MarkDeepNests left as they are.
class ForShallowNests : public llvm::PassInfoMixin<ForShallowNests> {
 public:
  explicit ForShallowNests(llvm::FunctionPassManager passes) : passes_(std::move(passes)) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

 private:
  llvm::FunctionPassManager passes_;
};

}  // namespace adc::codegen

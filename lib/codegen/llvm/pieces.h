#pragma once
// Where the body of a large task is cut, so that no function of LLVM is large.
//
// LLVM's scheduler, its register allocator and its analyses of memory and of loops take time with the square
// of a function's size. A task beyond a limit becomes several functions, each of a bounded size, so that the
// time grows with the task (split_function.h). Blocks of the structured IR are cut into runs of instructions,
// in nests from the inside out: a run that holds a large loop holds the calls of that loop's own pieces.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "codegen/common/task_size.h"

namespace adc::codegen {

/// The cuts of one task.
class PiecePlan {
 public:
  /// Instructions [first, last) of a block, which become a function.
  struct Run {
    uint32_t first = 0;
    uint32_t last = 0;
  };

  /// A task of at most `limit` operations stays whole; others are cut into pieces of a tenth of it.
  PiecePlan(const ir::Function& kernel, const analysis::Task& task, uint64_t limit);

  bool Cuts() const { return cuts_; }
  /// In order; none where the instructions [first, last) of the block stay where they are.
  std::vector<Run> RunsOf(ir::Block block, uint32_t first, uint32_t last) const;

 private:
  /// The weight that remains of `inst` and of a block when their own large blocks have become calls.
  uint64_t Weigh(ir::Inst inst);
  uint64_t WeighBlock(ir::Block block);
  uint64_t WeightOf(ir::Inst inst) const;

  const ir::Function& kernel_;
  uint64_t piece_ = 0;
  bool cuts_ = false;
  std::unordered_map<uint32_t, uint64_t> weights_;  ///< of control, by instruction
};

}  // namespace adc::codegen

#include "raise/cuts.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/task_size.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Function, ir::Inst;

constexpr uint64_t kPiecesOfLimit = 10;

/// The cuts of one task.
class Cutter {
 public:
  Cutter(Function& kernel, uint64_t limit)
      : kernel_(kernel), piece_(std::max<uint64_t>(limit / kPiecesOfLimit, 1)) {}

  void Run(const analysis::Task& task) {
    for (uint32_t n = task.first; n < task.last; ++n) Weigh(kernel_[kernel_.Body()].insts[n]);
    // Each call of the task's function runs what stands before a parallel loop, and then its iterations.
    bool parallel = task.kind == analysis::TaskKind::Parallel;
    Cut(kernel_.Body(), task.first, task.last - (parallel ? 1 : 0));
    if (parallel && !kernel_[task.parallel].Has(ir::Word::LanesBody)) CutRegions(task.parallel);
  }

 private:
  /// The weight that remains of `inst` and of a block when their own large blocks have become calls.
  uint64_t Weigh(Inst inst) {
    uint64_t weight = analysis::OperationsOf(kernel_[inst].op);
    if (kernel_.RegionCount(inst) == 0) return weight;
    for (uint32_t n = 0; n < kernel_.RegionCount(inst); ++n) weight += WeighBlock(kernel_[inst].regions[n]);
    weights_[inst.raw] = weight;
    return weight;
  }

  uint64_t WeighBlock(Block block) {
    uint64_t weight = 0;
    for (Inst inst : kernel_[block].insts) weight += Weigh(inst);
    auto count = static_cast<uint32_t>(kernel_[block].insts.size());
    return weight <= piece_ ? weight : 2 * CutsOf(block, 0, count).size();
  }

  uint64_t WeightOf(Inst inst) const {
    auto found = weights_.find(inst.raw);
    return found == weights_.end() ? analysis::OperationsOf(kernel_[inst].op) : found->second;
  }

  /// The first instructions of the runs into which [first, last) of the block are cut; none where they stay
  /// where they are.
  std::vector<Inst> CutsOf(Block block, uint32_t first, uint32_t last) const {
    std::vector<Inst> cuts;
    const std::vector<Inst>& insts = kernel_[block].insts;
    uint64_t total = 0;
    for (uint32_t n = first; n < last; ++n) total += WeightOf(insts[n]);
    if (total <= piece_) return cuts;
    uint64_t weight = 0;
    for (uint32_t n = first; n < last; ++n) {
      uint64_t own = WeightOf(insts[n]);
      bool begins = weight == 0 || weight + own > piece_;
      if (begins) cuts.push_back(insts[n]);
      weight = begins ? own : weight + own;
    }
    return cuts;
  }

  void Cut(Block block, uint32_t first, uint32_t last) {
    for (Inst inst : CutsOf(block, first, last)) kernel_[inst].words.Add(ir::Word::Cut);
    for (uint32_t n = first; n < last; ++n) CutRegions(kernel_[block].insts[n]);
  }

  void CutRegions(Inst inst) {
    for (uint32_t n = 0; n < kernel_.RegionCount(inst); ++n) {
      Block region = kernel_[inst].regions[n];
      Cut(region, 0, static_cast<uint32_t>(kernel_[region].insts.size() - 1));
    }
  }

  Function& kernel_;
  uint64_t piece_;
  std::unordered_map<uint32_t, uint64_t> weights_;  ///< of control, by instruction
};

}  // namespace

void MarkCuts(ir::Module&, Function& kernel, const RaiseConfig& config) {
  for (const analysis::Task& task : analysis::TasksOf(kernel)) {
    if (analysis::OperationsOf(kernel, task) > config.largest_function)
      Cutter(kernel, config.largest_function).Run(task);
  }
}

}  // namespace adc::raise

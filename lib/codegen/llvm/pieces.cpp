#include "codegen/llvm/pieces.h"

#include <algorithm>

namespace adc::codegen {

using ir::Block;
using ir::Function;
using ir::Inst;

namespace {

constexpr uint64_t kPiecesOfLimit = 10;

}  // namespace

PiecePlan::PiecePlan(const Function& kernel, const analysis::Task& task, uint64_t limit)
    : kernel_(kernel), piece_(std::max<uint64_t>(limit / kPiecesOfLimit, 1)) {
  cuts_ = OperationsOf(kernel, task) > limit;
  if (!cuts_) return;
  const std::vector<Inst>& top = kernel[kernel.Body()].insts;
  for (uint32_t n = task.first; n < task.last; ++n) Weigh(top[n]);
}

uint64_t PiecePlan::Weigh(Inst inst) {
  uint64_t weight = OperationsOf(kernel_[inst].op);
  if (kernel_.RegionCount(inst) == 0) return weight;
  for (uint32_t n = 0; n < kernel_.RegionCount(inst); ++n) weight += WeighBlock(kernel_[inst].regions[n]);
  weights_[inst.raw] = weight;
  return weight;
}

uint64_t PiecePlan::WeighBlock(Block block) {
  uint64_t weight = 0;
  for (Inst inst : kernel_[block].insts) weight += Weigh(inst);
  auto count = static_cast<uint32_t>(kernel_[block].insts.size());
  return weight <= piece_ ? weight : 2 * RunsOf(block, 0, count).size();
}

uint64_t PiecePlan::WeightOf(Inst inst) const {
  auto found = weights_.find(inst.raw);
  return found == weights_.end() ? OperationsOf(kernel_[inst].op) : found->second;
}

std::vector<PiecePlan::Run> PiecePlan::RunsOf(Block block, uint32_t first, uint32_t last) const {
  std::vector<Run> runs;
  if (!cuts_) return runs;
  const std::vector<Inst>& insts = kernel_[block].insts;
  uint64_t total = 0;
  for (uint32_t n = first; n < last; ++n) total += WeightOf(insts[n]);
  if (total <= piece_) return runs;
  Run run{first, first};
  uint64_t weight = 0;
  for (uint32_t n = first; n < last; ++n) {
    uint64_t own = WeightOf(insts[n]);
    if (weight != 0 && weight + own > piece_) {
      runs.push_back(run);
      run.first = n;
      weight = 0;
    }
    run.last = n + 1;
    weight += own;
  }
  if (weight != 0) runs.push_back(run);
  return runs;
}

}  // namespace adc::codegen

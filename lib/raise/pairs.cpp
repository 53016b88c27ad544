#include "raise/pairs.h"

#include <map>

#include "analysis/tasks.h"
#include "ir/words.h"

namespace adc::raise {
namespace {

void MarkBlock(ir::Function& kernel, ir::Block block, uint32_t first, uint32_t last) {
  std::map<uint32_t, ir::Inst> waiting;  // by operand: for its partner
  for (uint32_t position = first; position < last; ++position) {
    ir::Inst inst = kernel[block].insts[position];
    const ir::InstData& data = kernel[inst];
    for (uint32_t n = 0; n < kernel.RegionCount(inst); ++n) {
      ir::Block region = data.regions[n];
      MarkBlock(kernel, region, 0, static_cast<uint32_t>(kernel[region].insts.size()));
    }
    if ((data.op != ir::Op::Sin && data.op != ir::Op::Cos) || data.Has(ir::Word::AsWritten) ||
        kernel.TypeOf(kernel.Result(inst)).scalar == ir::Scalar::F16)
      continue;
    auto [place, fresh] = waiting.try_emplace(kernel.Operand(inst, 0).raw, inst);
    if (fresh || kernel[place->second].op == data.op) continue;
    kernel[place->second].words.Add(ir::Word::Paired);
    kernel[inst].words.Add(ir::Word::Paired);
    waiting.erase(place);
  }
}

}  // namespace

void MarkPairs(ir::Module&, ir::Function& kernel, const RaiseConfig&) {
  // Each task is a function of its own.
  for (const analysis::Task& task : analysis::TasksOf(kernel))
    MarkBlock(kernel, kernel.Body(), task.first, task.last);
}

}  // namespace adc::raise

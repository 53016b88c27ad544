#include "raise/turns.h"

#include "analysis/walk.h"

namespace adc::raise {
namespace {

struct Weight {
  uint32_t instructions = 0;  ///< roughly; a great many where there is a loop, or a call of a function
  bool touches_rows = false;
};

Weight WeightOf(const ir::Function& kernel, ir::Block block) {
  constexpr uint32_t kFunction = 100;
  Weight weight;
  analysis::ForEachInst(kernel, block, [&](ir::Inst inst) {
    ir::Op op = kernel[inst].op;
    bool is_long = op == ir::Op::For || op == ir::Op::While || ir::ClassOf(op) == ir::OpClass::Function;
    weight.instructions += is_long ? kFunction : 1;
    weight.touches_rows = weight.touches_rows || op == ir::Op::RowLoad || op == ir::Op::RowStore;
  });
  return weight;
}

}  // namespace

void MarkTurns(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  constexpr uint32_t kMost = 8, kMostInstructions = 192;
  if (!config.device) return;
  analysis::ForEachInst(kernel, [&](ir::Inst inst) {
    // Turns that are apart a team shares.
    if (kernel[inst].op != ir::Op::For || kernel[inst].Has(ir::Word::Apart)) return;
    Weight weight = WeightOf(kernel, kernel[inst].regions[0]);
    if (!weight.touches_rows) return;
    uint32_t turns = kMost;
    while (turns > 1 && turns * weight.instructions > kMostInstructions) turns /= 2;
    if (turns > 1) kernel[inst].component = turns;
  });
}

}  // namespace adc::raise

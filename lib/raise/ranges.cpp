#include "raise/ranges.h"

#include "analysis/walk.h"
#include "ir/words.h"
#include "raise/intervals.h"

namespace adc::raise {

void MarkRanges(ir::Module& module, ir::Function& kernel, const RaiseConfig&) {
  Intervals intervals(module, kernel);
  analysis::ForEachInst(kernel, [&](ir::Inst inst) {
    ir::Op op = kernel[inst].op;
    bool may_wrap = op == ir::Op::Add || op == ir::Op::Sub || op == ir::Op::Mul;
    if (may_wrap && intervals.IsExact(inst)) kernel[inst].words.Add(ir::Word::NoWrap);
  });
}

}  // namespace adc::raise

#include "raise/decisions.h"

#include "analysis/decisions.h"
#include "analysis/walk.h"
#include "ir/words.h"

namespace adc::raise {

void MarkDecisions(ir::Module&, ir::Function& kernel, const RaiseConfig&) {
  analysis::Decisions decisions(kernel);
  analysis::ForEachInst(kernel, [&](ir::Inst inst) {
    if (ir::IsScalarOperation(kernel[inst].op) && decisions.Has(inst))
      kernel[inst].words.Add(ir::Word::AsWritten);
  });
}

}  // namespace adc::raise

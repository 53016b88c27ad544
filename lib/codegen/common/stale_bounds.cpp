#include "codegen/common/stale_bounds.h"

#include <vector>

namespace adc::codegen {

bool BoundsReadMemory(const ir::Function& kernel, ir::Inst parallel) {
  if (kernel[parallel].op != ir::Op::Parallel) return false;
  IndexSet<ir::Inst> seen;
  std::vector<ir::Inst> left = {parallel};
  while (!left.empty()) {
    ir::Inst inst = left.back();
    left.pop_back();
    for (ir::Value operand : kernel.Operands(inst)) {
      ir::Inst made = kernel.DefiningInst(operand);
      if (!made.Valid() || !seen.Insert(made)) continue;
      if (ir::InfoOf(kernel[made].op).effect != ir::Effect::Pure) return true;
      left.push_back(made);
    }
  }
  return false;
}

}  // namespace adc::codegen

#include "analysis/task_size.h"

#include <vector>

namespace adc::analysis {

using ir::Function, ir::Inst;

uint64_t OperationsOf(const Function& kernel, const Task& task) {
  uint64_t count = 0;
  const std::vector<Inst>& top = kernel[kernel.Body()].insts;
  std::vector<Inst> open(top.begin() + task.first, top.begin() + task.last);
  while (!open.empty()) {
    Inst inst = open.back();
    open.pop_back();
    count += OperationsOf(kernel[inst].op);
    for (uint32_t n = 0; n < kernel.RegionCount(inst); ++n) {
      const std::vector<Inst>& inner = kernel[kernel[inst].regions[n]].insts;
      open.insert(open.end(), inner.begin(), inner.end());
    }
  }
  return count;
}

}  // namespace adc::analysis

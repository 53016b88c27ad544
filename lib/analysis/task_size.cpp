#include "analysis/task_size.h"

#include "analysis/walk.h"

namespace adc::analysis {

uint64_t OperationsOf(const ir::Function& kernel, const Task& task) {
  uint64_t count = 0;
  for (uint32_t n = task.first; n < task.last; ++n) {
    ForEachInst(kernel, kernel[kernel.Body()].insts[n],
                [&](ir::Inst inst) { count += OperationsOf(kernel[inst].op); });
  }
  return count;
}

}  // namespace adc::analysis

#include "codegen/common/launch_words.h"

#include "analysis/tasks.h"
#include "artifact/gpu_abi.h"
#include "codegen/common/cells.h"
#include "diag/errors/codegen.h"
#include "ir/module.h"

namespace adc::codegen {

uint32_t GpuRowWords(const TaskRows* rows) {
  if (rows == nullptr) return 0;
  uint32_t words = ADRT_GPU_GROUP_WORDS * rows->groups;
  for (uint32_t position : rows->row_position) words += position == ir::kNoAttr ? 0 : ADRT_GPU_STACK_WORDS;
  return words;
}

uint32_t GpuWordCount(const ir::Function& kernel, const TaskRows* rows) {
  return ParameterCells(kernel).back() + GpuRowWords(rows) + ADRT_GPU_TAIL_WORDS;
}

diag::Status CheckLaunchWords(const ir::Module& module, const KernelToEmit& what,
                              const target::Target& target) {
  if (target.kind != target::Kind::Cuda && target.kind != target::Kind::Hip) return diag::Unit{};
  const ir::Function& kernel = *what.kernel;
  for (size_t task = 0; task < analysis::TasksOf(kernel).size(); ++task) {
    uint32_t words = GpuWordCount(kernel, task < what.tasks.size() ? &what.tasks[task] : nullptr);
    if (words <= ADRT_GPU_MAX_WORDS) continue;
    return diag::Fail(diag::E0604, kernel.span,
                      "a launch of '" + std::string(module.Text(kernel.name)) + "' takes " +
                          std::to_string(words) + " words of 64 bits; " + target.name + " allows at most " +
                          std::to_string(ADRT_GPU_MAX_WORDS),
                      "pass small values in one buffer, or several buffers as fields of one layout");
  }
  return diag::Unit{};
}

}  // namespace adc::codegen

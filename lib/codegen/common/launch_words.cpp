#include "codegen/common/launch_words.h"

#include "artifact/gpu_abi.h"
#include "codegen/common/cells.h"

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

}  // namespace adc::codegen

#include "codegen/common/launch_words.h"

#include "artifact/gpu_abi.h"
#include "codegen/common/cells.h"
#include "support/check.h"

namespace adc::codegen {

void CheckGroup(const TaskRows* rows, uint32_t group) {
  ADC_CHECK(rows != nullptr && group < rows->groups, "a row of a claim group that the plan does not have");
}

uint32_t RowPositionOf(const TaskRows* rows, uint32_t stack) {
  ADC_CHECK(rows != nullptr && stack < rows->row_position.size() && rows->row_position[stack] != ir::kNoAttr,
            "a row stack that the plan does not have");
  return rows->row_position[stack];
}

uint32_t PositionOf(const TaskRows* rows, uint32_t group, GroupWord word) {
  CheckGroup(rows, group);
  return ADRT_GPU_GROUP_WORDS * group + static_cast<uint32_t>(word);
}

uint32_t PositionOf(const TaskRows* rows, uint32_t stack, StackWord word) {
  uint32_t position = RowPositionOf(rows, stack);
  return ADRT_GPU_GROUP_WORDS * rows->groups + ADRT_GPU_STACK_WORDS * position + static_cast<uint32_t>(word);
}

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

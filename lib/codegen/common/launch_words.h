#pragma once
// How many words the launch of a task hands over (artifact/gpu_abi.h).

#include "codegen/common/code.h"

namespace adc::codegen {

/// The words of a claim group, and of a stack.
enum class GroupWord : uint8_t { Offset, Stride, Rows, Counter };
enum class StackWord : uint8_t { Offset, Capacity };

/// Internal check: the task has claim group `group`.
void CheckGroup(const TaskRows* rows, uint32_t group);
/// The position of a stack among those that have a row, which it is one of.
uint32_t RowPositionOf(const TaskRows* rows, uint32_t stack);
/// Positions among the words of the adstacks.
uint32_t PositionOf(const TaskRows* rows, uint32_t group, GroupWord word);
uint32_t PositionOf(const TaskRows* rows, uint32_t stack, StackWord word);

/// Number of words that the adstacks of a task take; none where `rows` is null.
uint32_t GpuRowWords(const TaskRows* rows);

/// Number of words of a launch of a task. `rows` may be null.
uint32_t GpuWordCount(const ir::Function& kernel, const TaskRows* rows);

}  // namespace adc::codegen

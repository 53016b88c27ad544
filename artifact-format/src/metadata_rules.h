#pragma once
// What FinishMetadata fills and CheckMetadata compares with.

#include "artifact/metadata.h"

namespace adc::artifact {

/// The highest class among a task's extents and capacities; an unknown capacity is S2.
SizeClass TaskSizeClass(const KernelMeta& kernel, const TaskMeta& task);

/// Parameters that a task's extents and capacities read, ascending; false when memory is refused.
bool TaskSizeReads(const KernelMeta& kernel, const TaskMeta& task, Vector<uint32_t>* params);

}  // namespace adc::artifact

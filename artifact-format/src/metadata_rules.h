#pragma once
// The parts that FinishMetadata fills and CheckMetadata compares with.

#include "artifact/budget.h"
#include "artifact/metadata.h"

namespace adc::artifact {

/// CheckMetadata within a budget; null: without one.
bool CheckMetadata(const Metadata& metadata, const Limits& limits, OpenBudget* budget, Error* error);

/// Hashes of interfaces, one kernel after the other: XXH3-64 of a canonical text, the kernel's name and the
/// arguments that a caller must give, one parameter per line. Each layout is written once, however many
/// parameters have it.
class InterfaceHasher {
 public:
  InterfaceHasher(const Metadata& metadata, const Allocator* allocator, Steps* steps);
  /// False when memory is refused or steps are used up.
  bool Hash(const KernelMeta& kernel, uint64_t* hash);

 private:
  bool Text(const KernelMeta& kernel);
  const String* LayoutText(uint32_t layout);

  const Metadata& metadata_;
  Steps* steps_;
  String text_;
  Vector<String> layouts_;  ///< empty where no call has asked yet
};

/// The highest class among a task's extents and capacities; an unknown capacity is S2.
SizeClass TaskSizeClass(const KernelMeta& kernel, const TaskMeta& task);

/// Parameters that a task's extents and capacities read, ascending; false when memory is refused or steps are
/// used up.
bool TaskSizeReads(const KernelMeta& kernel, const TaskMeta& task, Steps* steps, Vector<uint32_t>* params);

}  // namespace adc::artifact

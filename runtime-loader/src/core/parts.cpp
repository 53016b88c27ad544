#include "core/parts.h"

#include "core/targets.h"

namespace adrt {

namespace {

/// The targets that have code for the kernel, as bits: a target has it for all tasks or for none.
uint64_t TargetsOf(const artifact::KernelMeta& kernel) {
  if (kernel.tasks.empty()) return kAllTargets;
  uint64_t targets = 0;
  for (const artifact::EntryMeta& entry : kernel.tasks[0].entries) targets |= uint64_t{1} << entry.target;
  return targets;
}

}  // namespace

uint64_t TargetsToLoad(const adrt_device& device, const adrt_bundle& bundle, bool confined, uint32_t first) {
  uint64_t taken = uint64_t{1} << first;
  // A kernel that counts for another one has code wherever that has, and comes after it in the order of
  // names.
  for (const artifact::KernelMeta& kernel : bundle.metadata.kernels) {
    uint64_t targets = TargetsOf(kernel);
    uint32_t chosen = 0;
    if ((targets & taken) == 0 &&
        ChooseTarget(device, bundle.metadata, bundle.index, confined, targets, &chosen))
      taken |= uint64_t{1} << chosen;
  }
  return taken;
}

adrt_module* PartFor(adrt_module& module, const artifact::KernelMeta& kernel) {
  uint64_t targets = TargetsOf(kernel);
  for (adrt_module* part = &module; part; part = part->next) {
    if ((targets >> part->target & 1) != 0) return part;
  }
  return &module;
}

}  // namespace adrt

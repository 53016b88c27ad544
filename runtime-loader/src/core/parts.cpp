#include "core/parts.h"

#include <bit>

#include "core/targets.h"

namespace adrt {

namespace {

/// The targets that have code for the kernel, as bits: a target has it for all tasks or for none.
uint64_t TargetsOf(const artifact::KernelMeta& kernel) {
  if (kernel.tasks.empty()) return UINT64_MAX;
  uint64_t targets = 0;
  for (const artifact::EntryMeta& entry : kernel.tasks[0].entries) targets |= uint64_t{1} << entry.target;
  return targets;
}

/// What the device thinks of every target, asked once.
struct Judgement {
  uint64_t usable = 0;
  uint32_t ranks[64] = {};

  Judgement(const adrt_device& device, const adrt_bundle& bundle, bool confined) {
    const artifact::Metadata& metadata = bundle.metadata;
    for (uint32_t target = 0; target < metadata.targets.size(); ++target) {
      if (confined && !Confines(device, metadata.targets[target])) continue;
      char text[1] = {};
      artifact::TextWriter reason(text, sizeof text);
      if (JudgeTarget(device, metadata, bundle.index, target, &ranks[target], reason))
        usable |= uint64_t{1} << target;
    }
  }

  /// The usable target of the highest rank among `targets`, the first of equals, as a bit; 0 for none.
  uint64_t Best(uint64_t targets) const {
    uint64_t best = 0;
    uint32_t best_rank = 0;
    for (uint64_t left = targets & usable; left != 0; left &= left - 1) {
      uint32_t rank = ranks[std::countr_zero(left)];
      if (best != 0 && rank <= best_rank) continue;
      best = left & -left;
      best_rank = rank;
    }
    return best;
  }
};

}  // namespace

uint64_t TargetsToLoad(const adrt_device& device, const adrt_bundle& bundle, bool confined, uint32_t first) {
  uint64_t taken = uint64_t{1} << first;
  bool complete = true;
  for (const artifact::KernelMeta& kernel : bundle.metadata.kernels)
    complete = complete && (TargetsOf(kernel) & taken) != 0;
  if (complete) return taken;
  Judgement judgement(device, bundle, confined);
  // A kernel that counts for another one has code wherever that has, and comes after it in the order of
  // names.
  for (const artifact::KernelMeta& kernel : bundle.metadata.kernels) {
    uint64_t targets = TargetsOf(kernel);
    if ((targets & taken) == 0) taken |= judgement.Best(targets);
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

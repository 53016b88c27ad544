#pragma once
// Which of a bundle's targets a device runs.

#include "core/handles.h"

namespace adrt {

/// Whether `device` can run `target`; if not, `reason` says why. `rank` orders the targets that it can run.
bool JudgeTarget(const adrt_device& device, const artifact::Metadata& metadata,
                 const artifact::BundleIndex& index, uint32_t target, uint32_t* rank,
                 artifact::TextWriter& reason);

/// Targets as bits: all of them.
inline constexpr uint64_t kAllTargets = UINT64_MAX;

/// The usable target of the highest rank among `among`, the first of equals; false where none is usable.
/// `confined`: among targets that a device may run unverified (DeviceKind::confines).
bool ChooseTarget(const adrt_device& device, const artifact::Metadata& metadata,
                  const artifact::BundleIndex& index, bool confined, uint64_t among, uint32_t* chosen);

/// The target that a module of `bundle` for `device` has: of an unverified bundle the best that the device
/// may run unverified, else the best. False with the error set, which says of each target why not, where none
/// is usable.
bool ChooseTargetFor(const adrt_device& device, const adrt_bundle& bundle, uint32_t* chosen,
                     adrt_error* error);

/// Whether the device may run unverified code of the target.
inline bool Confines(const adrt_device& device, const artifact::TargetMeta& target) {
  return device.kind->confines && target.kind == device.kind->name && device.kind->confines(target);
}

}  // namespace adrt

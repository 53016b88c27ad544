#include <cstring>

#include "core/errors.h"
#include "core/host.h"
#include "core/parts.h"
#include "core/targets.h"

// The parts that are the same for every kind of device: counting, and choosing a target.

using adrt::Fail;

namespace adrt {

bool ChooseTarget(const adrt_device& device, const artifact::Metadata& metadata,
                  const artifact::BundleIndex& index, bool confined, uint64_t among, uint32_t* chosen) {
  bool found = false;
  uint32_t best_rank = 0;
  for (uint32_t target = 0; target < metadata.targets.size(); ++target) {
    if ((among >> target & 1) == 0) continue;
    if (confined && !Confines(device, metadata.targets[target])) continue;
    uint32_t rank = 0;
    char text[1] = {};
    artifact::TextWriter reason(text, sizeof text);
    if (!JudgeTarget(device, metadata, index, target, &rank, reason)) continue;
    if (!found || rank > best_rank) {
      *chosen = target;
      best_rank = rank;
      found = true;
    }
  }
  return found;
}

bool JudgeTarget(const adrt_device& device, const artifact::Metadata& metadata,
                 const artifact::BundleIndex& index, uint32_t target, uint32_t* rank,
                 artifact::TextWriter& reason) {
  const artifact::TargetMeta& meta = metadata.targets[target];
  if (meta.kind != device.kind->name) {
    reason << "is for a device of kind '" << meta.kind.view() << "'";
    return false;
  }
  if (!device.kind->judge(device, meta, rank, reason)) return false;
  if (!index.Find(device.kind->payload, target)) {
    reason << "the bundle holds no loadable image for it";
    return false;
  }
  return true;
}

}  // namespace adrt

void adrt_device_retain(adrt_device* device) {
  adrt::Alive(__func__, device);
  if (device) device->count.Retain();
}

void adrt_device_release(adrt_device* device) {
  adrt::Alive(__func__, device);
  if (device && device->count.Release()) device->kind->destroy(*device);
}

adrt_status adrt_device_info(const adrt_device* device, adrt_device_report* report, adrt_error* error) {
  adrt::Alive(__func__, device);
  if (!device || !report) return Fail(error, ADRT_ERROR_ARGUMENT, "device_info: null argument");
  adrt_device_report made = {};
  made.worker_count = device->worker_count;
  adrt::artifact::TextWriter(made.kind, sizeof made.kind) << device->kind->name;
  adrt::artifact::TextWriter(made.arch, sizeof made.arch) << device->arch;
  adrt::artifact::TextWriter(made.name, sizeof made.name) << device->label;
  adrt::artifact::TextWriter features(made.features, sizeof made.features);
  device->kind->features(*device, features);
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_info: struct_size is not set");
  return ADRT_OK;
}

adrt_status adrt_bundle_query_targets(const adrt_bundle* bundle, const adrt_device* device,
                                      adrt_target_report* reports, uint32_t capacity, uint32_t* count,
                                      adrt_error* error) {
  adrt::Alive(__func__, bundle, device);
  if (!bundle || !device || !count) return Fail(error, ADRT_ERROR_ARGUMENT, "query_targets: null argument");
  const adc::artifact::Metadata& metadata = bundle->metadata;
  uint32_t size = static_cast<uint32_t>(metadata.targets.size());
  if (reports) {
    if (capacity < size)
      return Fail(error, ADRT_ERROR_ARGUMENT, "query_targets: the bundle has ", size, " targets");
    uint32_t chosen = size;
    uint64_t taken = 0;
    if (adrt::ChooseTarget(*device, metadata, bundle->index, false, adrt::kAllTargets, &chosen))
      taken = adrt::TargetsToLoad(*device, *bundle, false, chosen);
    unsigned char* place = reinterpret_cast<unsigned char*>(reports);
    uint32_t stride = reports->struct_size;
    for (uint32_t target = 0; target < size; ++target) {
      adrt_target_report made = {};
      made.name = metadata.targets[target].name.c_str();
      adrt::artifact::TextWriter reason(made.reason, sizeof made.reason);
      uint32_t rank = 0;
      if (adrt::JudgeTarget(*device, metadata, bundle->index, target, &rank, reason)) {
        bool loads = (taken >> target & 1) != 0;
        made.verdict = loads ? ADRT_TARGET_CHOSEN : ADRT_TARGET_USABLE;
        if (loads) {
          reason << "the best that this device can run";
        } else {
          reason << "'" << metadata.targets[chosen].name.view() << "' uses more of this device";
        }
      }
      adrt_target_report* report = reinterpret_cast<adrt_target_report*>(place + size_t{target} * stride);
      bool good = stride % alignof(adrt_target_report) == 0;
      if (good) report->struct_size = stride;
      if (!good || !adrt::CopyReport(made, report)) {
        return Fail(error, ADRT_ERROR_ARGUMENT, "query_targets: struct_size is wrong");
      }
    }
  }
  *count = size;
  return ADRT_OK;
}

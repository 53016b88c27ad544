#include <bit>

#include "core/code.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/parts.h"
#include "core/targets.h"

// Modules: the code of one target, loaded for one device, and the parts of what was merged (core/parts.h).

using adrt::Fail;

namespace {

bool Trusted(const adrt_bundle& bundle) {
  if (bundle.host.trust || bundle.signature == ADRT_SIGNATURE_GOOD) return true;
  return bundle.host.authorize && bundle.host.authorize(bundle.host.user, bundle.index.content_id) != 0;
}

// Reserves one entry per task; which tasks have code for the target is known from the metadata.
bool MakeEntryTable(adrt_module& module) {
  module.task_begin.Bind(&module.host.allocator);
  module.entries.Bind(&module.host.allocator);
  module.entry_threads.Bind(&module.host.allocator);
  uint32_t count = 0;
  for (const adc::artifact::KernelMeta& kernel : module.bundle->metadata.kernels) {
    if (!module.task_begin.TryPush(count)) return false;
    count += static_cast<uint32_t>(kernel.tasks.size());
  }
  return module.entries.TryResize(count) && module.entry_threads.TryResize(count);
}

}  // namespace

bool adrt::ReadCode(const adrt_module& module, Vector<uint8_t>* bytes, uint32_t* section, adrt_error* error) {
  const adrt_bundle& bundle = *module.bundle;
  const artifact::Section* found = bundle.index.Find(module.device->kind->payload, module.target);
  artifact::Error reason;
  *section = static_cast<uint32_t>(found - bundle.index.sections.begin());
  // The caller trusted the content id that opening computed: borrowed bytes must still be those.
  auto read = bundle.owned.empty() ? artifact::ReadSectionAgain : artifact::ReadSection;
  if (read(bundle.file, bundle.index, *section, bundle.host.limits, bytes, &reason)) return true;
  return FromArtifact(reason, error) == ADRT_OK;
}

bool adrt::NextEntry(const adrt_module& module, EntryWalk* walk) {
  const Vector<artifact::KernelMeta>& kernels = module.bundle->metadata.kernels;
  for (; walk->kernel < kernels.size(); ++walk->kernel, walk->next_task = 0) {
    while (walk->next_task < kernels[walk->kernel].tasks.size()) {
      walk->task = walk->next_task++;
      for (const artifact::EntryMeta& entry : kernels[walk->kernel].tasks[walk->task].entries) {
        if (entry.target != module.target) continue;
        walk->meta = &entry;
        walk->kernel_meta = &kernels[walk->kernel];
        walk->slot = module.task_begin[walk->kernel] + walk->task;
        return true;
      }
    }
  }
  return false;
}

bool adrt::ChooseTargetFor(const adrt_device& device, const adrt_bundle& bundle, uint32_t* chosen,
                           adrt_error* error) {
  const adc::artifact::Metadata& metadata = bundle.metadata;
  // An unverified bundle runs its confined code if it has some, and is refused otherwise.
  if (device.kind->confines && !Trusted(bundle) &&
      ChooseTarget(device, metadata, bundle.index, true, kAllTargets, chosen))
    return true;
  if (ChooseTarget(device, metadata, bundle.index, false, kAllTargets, chosen)) return true;
  char text[320] = {};
  adc::artifact::TextWriter reasons(text, sizeof text);
  for (uint32_t index = 0; index < metadata.targets.size(); ++index) {
    uint32_t rank = 0;
    reasons << (index > 0 ? "; " : "") << metadata.targets[index].name.view() << ": ";
    JudgeTarget(device, metadata, bundle.index, index, &rank, reasons);
  }
  Fail(error, ADRT_ERROR_NO_TARGET, "the bundle has no code for this device (", text, ")");
  return false;
}

adrt_status adrt::MakeModule(adrt_device* device, adrt_bundle* bundle, uint32_t target,
                             const LinkedCode* linked, adrt_module** module, adrt_error* error) {
  const artifact::Metadata& metadata = bundle->metadata;
  bool trusted = linked || Trusted(*bundle);
  if (!trusted && !Confines(*device, metadata.targets[target])) {
    return Fail(error, ADRT_ERROR_UNTRUSTED, "this bundle's code is unverified (",
                adrt_signature_text(bundle->signature),
                "): set ADRT_HOST_TRUST, authorize its content id, or give the key that signed it",
                device->kind->confines ? "; code without device addresses needs none of that, and '" : "",
                device->kind->confines ? metadata.targets[target].name.view() : "",
                device->kind->confines ? "' is none" : "");
  }
  char text[160] = {};
  artifact::TextWriter reason(text, sizeof text);
  uint32_t rank = 0;
  bool runs = linked ? device->kind->judge(*device, metadata.targets[target], &rank, reason)
                     : JudgeTarget(*device, metadata, bundle->index, target, &rank, reason);
  if (!runs) {
    return Fail(error, ADRT_ERROR_DEVICE_FEATURE, "target '", metadata.targets[target].name.view(),
                "': ", text);
  }
  adrt_module* made = New<adrt_module>(device->host.allocator, device->host);
  if (!made) return OutOfMemory(error);
  made->device = device;
  made->bundle = bundle;
  made->target = target;
  made->confined = !trusted;
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  bool done = MakeEntryTable(*made) || (OutOfMemory(details), false);
  if (!done ||
      !(linked ? linked->take(*made, *linked->entries, details) : device->kind->load(*made, details))) {
    adrt_status status = details->status;
    Delete(made->host.allocator, made);
    return status;
  }
  adrt_device_retain(device);
  adrt_bundle_retain(bundle);
  char message[320];
  artifact::TextWriter(message, sizeof message)
      << "adrt: loaded target " << metadata.targets[target].name.view();
  Log(made->host, message);
  *module = made;
  return ADRT_OK;
}

adrt_status adrt_module_load_target(adrt_device* device, adrt_bundle* bundle, uint32_t target,
                                    adrt_module** module, adrt_error* error) {
  adrt::Alive(__func__, device, bundle);
  if (!device || !bundle || !module) return Fail(error, ADRT_ERROR_ARGUMENT, "module_load: null argument");
  const adc::artifact::Metadata& metadata = bundle->metadata;
  if (target >= metadata.targets.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "module_load: no target ", target, ": the bundle has ",
                uint64_t{metadata.targets.size()});
  }
  return adrt::MakeModule(device, bundle, target, nullptr, module, error);
}

adrt_status adrt_module_load(adrt_device* device, adrt_bundle* bundle, adrt_module** module,
                             adrt_error* error) {
  adrt::Alive(__func__, device, bundle);
  if (!device || !bundle || !module) return Fail(error, ADRT_ERROR_ARGUMENT, "module_load: null argument");
  uint32_t target = 0;
  if (!adrt::ChooseTargetFor(*device, *bundle, &target, error)) return ADRT_ERROR_NO_TARGET;
  adrt_module* first = nullptr;
  adrt_status status = adrt_module_load_target(device, bundle, target, &first, error);
  if (status != ADRT_OK || !first) return status;
  adrt_module* last = first;
  uint64_t left = adrt::TargetsToLoad(*device, *bundle, first->confined, target) & ~(uint64_t{1} << target);
  for (; left != 0; left &= left - 1) {
    status = adrt_module_load_target(device, bundle, static_cast<uint32_t>(std::countr_zero(left)),
                                     &last->next, error);
    if (status != ADRT_OK) {
      adrt_module_release(first);
      return status;
    }
    last = last->next;
  }
  *module = first;
  return ADRT_OK;
}

uint32_t adrt_module_target(const adrt_module* module) {
  adrt::Alive(__func__, module);
  return module ? module->target : adc::artifact::kNoTarget;
}

void adrt_module_retain(adrt_module* module) {
  adrt::Alive(__func__, module);
  if (module) module->count.Retain();
}

void adrt_module_release(adrt_module* module) {
  adrt::Alive(__func__, module);
  while (module && module->count.Release()) {
    module->device->kind->unload(*module);
    adrt_device* device = module->device;
    adrt_bundle* bundle = module->bundle;
    adrt_module* next = module->next;
    adrt::Delete(module->host.allocator, module);
    adrt_bundle_release(bundle);
    adrt_device_release(device);
    module = next;
  }
}

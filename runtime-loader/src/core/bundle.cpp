#include <cstring>

#include "core/errors.h"
#include "core/host.h"
#include "core/signature.h"

// Opening a bundle and finding kernels in it.

using adrt::Fail;

const adrt_kernel* adrt::FindKernel(const adrt_bundle& bundle, std::string_view name) {
  size_t low = 0, high = bundle.kernels.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (bundle.kernels[middle].meta->name.view() < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bool found = low < bundle.kernels.size() && bundle.kernels[low].meta->name.view() == name;
  return found ? &bundle.kernels[low] : nullptr;
}

adrt_status adrt_bundle_open(const adrt_host* host, const void* data, size_t size, uint32_t mode,
                             adrt_bundle** bundle, adrt_error* error) {
  if (!bundle || (!data && size > 0)) return Fail(error, ADRT_ERROR_ARGUMENT, "bundle_open: null argument");
  if (mode != ADRT_BUNDLE_COPY && mode != ADRT_BUNDLE_BORROW) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "bundle_open: unknown mode ", mode);
  }
  adrt::Host made;
  if (!adrt::MakeHost(host, &made, error)) return ADRT_ERROR_ARGUMENT;
  adrt_bundle* opened = adrt::New<adrt_bundle>(made.allocator, made, size);
  if (!opened) return adrt::OutOfMemory(error);

  adc::artifact::OpenBudget& budget = opened->budget;
  opened->file = {static_cast<const uint8_t*>(data), size};
  adc::artifact::Error reason;
  bool has_memory = true;
  if (mode == ADRT_BUNDLE_COPY && size <= made.limits.file_bytes) {
    opened->owned.Bind(budget.allocator());
    has_memory = opened->owned.TryResize(size);
    if (has_memory && size > 0) std::memcpy(opened->owned.data(), data, size);
    opened->file = {opened->owned.data(), opened->owned.size()};
  }
  bool done = has_memory &&
              adc::artifact::ReadBundle(opened->file, opened->host.limits, &budget, &opened->index,
                                        &opened->metadata, &reason) &&
              adrt::CheckSignatures(*opened, &reason);
  if (done) {
    opened->kernels.Bind(adrt::KernelMemory(budget.allocator()));
    done = has_memory = opened->kernels.TryResize(opened->metadata.kernels.size());
  }
  if (!has_memory) {
    adc::artifact::Fail(&reason, adc::artifact::Code::kOutOfMemory, adc::artifact::Rule::kNone,
                        "the host's allocator refused memory for the bundle");
    budget.Explain(&reason);
  }
  if (!done) {
    adrt_status status = adrt::FromArtifact(reason, error);
    adrt::Delete(made.allocator, opened);
    return status;
  }
  for (uint32_t index = 0; index < opened->kernels.size(); ++index) {
    opened->kernels[index] = {opened, &opened->metadata.kernels[index], index};
    adrt::BeginLife(&opened->kernels[index], adrt::Handle::Kernel);
  }
  opened->host.public_keys = {};  // the caller's, for this call
  *bundle = opened;
  return ADRT_OK;
}

void adrt_bundle_retain(adrt_bundle* bundle) {
  adrt::Alive(__func__, bundle);
  if (bundle) bundle->count.Retain();
}

void adrt_bundle_release(adrt_bundle* bundle) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !bundle->count.Release()) return;
  for (const adrt_kernel& kernel : bundle->kernels) adrt::EndLife(&kernel);
  adrt::Delete(bundle->host.allocator, bundle);
}

adrt_status adrt_bundle_find_kernel(const adrt_bundle* bundle, const char* name, uint64_t interface_hash,
                                    const adrt_kernel** kernel, adrt_error* error) {
  adrt::Alive(__func__, bundle);
  if (!bundle || !name || !kernel) return Fail(error, ADRT_ERROR_ARGUMENT, "find_kernel: null argument");
  std::string_view wanted = name;
  const adrt_kernel* match = adrt::FindKernel(*bundle, wanted);
  if (!match) {
    return Fail(error, ADRT_ERROR_NOT_FOUND, "the bundle has no kernel '", wanted, "'");
  }
  const adrt_kernel& found = *match;
  if (interface_hash != 0 && interface_hash != found.meta->interface_hash) {
    Fail(error, ADRT_ERROR_INTERFACE_MISMATCH, "kernel '", wanted,
         "' has other parameters than the caller was built for: compile the bundle and the caller together");
    return ADRT_ERROR_INTERFACE_MISMATCH;
  }
  *kernel = &found;
  return ADRT_OK;
}

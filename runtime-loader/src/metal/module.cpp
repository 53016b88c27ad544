#include "artifact/gpu_abi.h"
#include "core/code.h"
#include "core/errors.h"
#include "metal/device.h"

// From a bundle's Metal source to pipelines, one per entry.

namespace adrt::metal {
namespace {

/// "2.4" as 24; 0 where the text is no version.
uint32_t VersionOf(std::string_view text) {
  if (text.size() != 3 || text[1] != '.') return 0;
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return digit(text[0]) && digit(text[2]) ? static_cast<uint32_t>((text[0] - '0') * 10 + (text[2] - '0')) : 0;
}

/// The words of a launch are bytes of a command, so they cannot be reached through an address.
bool WordsAreDirect(const artifact::EntryMeta& entry) {
  for (const artifact::BindingMeta& binding : entry.bindings) {
    if (binding.of == artifact::BindingOf::kWords && binding.number >= ADRT_METAL_TABLE) return false;
  }
  return true;
}

/// The table is an argument buffer whose addresses the loader writes itself, and which a kernel may write
/// through: that takes the second tier.
bool HasTable(const artifact::EntryMeta& entry) {
  for (const artifact::BindingMeta& binding : entry.bindings) {
    if (binding.number >= ADRT_METAL_TABLE) return true;
  }
  return false;
}

bool Malformed(adrt_error* error) {
  error->rule = static_cast<uint32_t>(artifact::Rule::kH10);
  return false;
}

bool MakePipelines(adrt_module& module, const Device& device, void* library, adrt_error* error) {
  const adrt_metal_api& api = *device.api;
  for (EntryWalk walk; NextEntry(module, &walk);) {
    const char* symbol = walk.meta->symbol.c_str();
    if (!api.has_function(api.user, library, symbol)) {
      Fail(error, ADRT_ERROR_MALFORMED, "the Metal source has no function '", symbol, "' for kernel '",
           walk.kernel_meta->name.view(), "'");
      return Malformed(error);
    }
    if (!WordsAreDirect(*walk.meta)) {
      Fail(error, ADRT_ERROR_MALFORMED, "'", symbol, "' takes its words from the table of addresses");
      return Malformed(error);
    }
    if (HasTable(*walk.meta) && device.facts.table_tier < 2) {
      return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "'", symbol, "' takes more than ",
                    int32_t{ADRT_METAL_TABLE},
                    " buffers, through a table that needs argument buffers of tier 2; ", device.facts.name,
                    " has tier 1: divide the kernel, or put parameters into one buffer");
    }
    char text[256] = {};
    uint32_t most_threads = 0;
    void* pipeline = api.new_pipeline(api.user, library, symbol, &most_threads, text, sizeof text);
    if (!pipeline) {
      return Refuse(error, ADRT_ERROR_DRIVER, "newComputePipelineState failed for '", symbol, "': ", text);
    }
    module.entries[walk.slot] = pipeline;
    if (walk.meta->block_size > most_threads) {
      return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "'", symbol, "' runs in blocks of ",
                    walk.meta->block_size, " threads, the device takes ", most_threads, " of it");
    }
  }
  return true;
}

}  // namespace

bool Judge(const adrt_device& device, const artifact::TargetMeta& target, uint32_t* rank,
           artifact::TextWriter& reason) {
  uint32_t version = VersionOf(target.arch.view());
  if (version == 0) {
    reason << "its version '" << target.arch.view() << "' is not one of Metal";
    return false;
  }
  if (version > Of(device).facts.language) {
    reason << "needs Metal " << target.arch.view() << ", the system has " << device.arch;
    return false;
  }
  if (!target.features.empty()) {
    reason << "needs '" << target.features[0].view() << "', which this loader does not know";
    return false;
  }
  *rank = version;
  return true;
}

bool Load(adrt_module& module, adrt_error* error) {
  const Device& device = Of(*module.device);
  const adrt_metal_api& api = *device.api;
  Vector<uint8_t> source(&module.host.allocator);
  uint32_t section = 0;
  if (!ReadCode(module, &source, &section, error)) return false;
  char text[400] = {};
  uint32_t language = VersionOf(module.bundle->metadata.targets[module.target].arch.view());
  module.code = api.new_library(api.user, device.device, reinterpret_cast<const char*>(source.data()),
                                source.size(), language, text, sizeof text);
  if (!module.code) {
    Fail(error, ADRT_ERROR_DRIVER, "newLibraryWithSource failed: ", text);
    error->section = section;
    return false;
  }
  if (MakePipelines(module, device, module.code, error)) return true;
  error->section = section;
  Unload(module);
  return false;
}

void Unload(adrt_module& module) {
  const adrt_metal_api& api = *Of(*module.device).api;
  for (void*& pipeline : module.entries) {
    if (pipeline) api.release(api.user, pipeline);
    pipeline = nullptr;
  }
  if (module.code) api.release(api.user, module.code);
  module.code = nullptr;
}

}  // namespace adrt::metal

#pragma once
// A bundle for Vulkan made by hand: five kernels in GLSL that reach their launch as compiled code does
// (tests/loader/vulkan/), and a session that runs them with the validation layer on.

#include <adrt/adrt_vk.h>

#include <string>
#include <vector>

#include "session.h"

namespace fixture {

/// The SPIR-V of all kernels; empty where the file cannot be read.
std::vector<uint8_t> ReadSpirv();

/// Metadata of the kernels saxpy, tape, pick, mean and stop for the target "vulkan:1.2".
adc::artifact::Metadata MakeVulkanMetadata();

std::vector<uint8_t> MakeVulkanBundle(const adc::artifact::Metadata& metadata,
                                      const std::vector<uint8_t>& spirv);
std::vector<uint8_t> MakeVulkanBundle();

/// The same code twice, as a default compilation has it: for "vulkan:1.3", which adds floats in memory, and
/// for "vulkan:1.2".
std::vector<uint8_t> MakeVulkanBundleOfTwo();

/// Collects what the loader and the validation layer say.
struct LogBox {
  std::vector<std::string> lines;
  HeapTraces traces;

  adrt_host Host() {
    adrt_host host = TrustingHost();
    host.user = this;
    host.log = [](void* user, const char* text) { static_cast<LogBox*>(user)->lines.push_back(text); };
    host.trace_heap = [](void* user, const adrt_heap_trace* told) {
      static_cast<LogBox*>(user)->traces.Take(*told);
    };
    return host;
  }
  std::string Validation() const {
    std::string said;
    for (const std::string& line : lines) {
      if (line.find("validation: ") != std::string::npos) said += line + "\n";
    }
    return said;
  }
};

}  // namespace fixture

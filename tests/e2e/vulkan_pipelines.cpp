// Compute pipelines of everything for Vulkan that bundles hold, made as the loader makes them at a launch
// (near and far entries), on whatever device VK_ICD_FILENAMES names. Nothing is run, so that a driver which
// compiles without its hardware (RADV_FORCE_FAMILY) says whether it takes what adc emits.
//
//   adc_vulkan_pipelines [--device-name PART] <paths of bundles, one a line
//
// A line for each bundle: its path, a tab, and how many modules became pipelines, "lacks ..." where the
// device has not what all of them need, or "FAILED ...". Exit code 0, if the device could be opened and its
// name contains PART.

#include <adrt/adrt.h>
#include <adrt/adrt_vk.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

template <typename Struct>
Struct Sized() {
  Struct value = {};
  value.struct_size = sizeof value;
  return value;
}

std::string Make(const adrt_host& host, adrt_device* device, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  adrt_error error = {};
  adrt_bundle* bundle = nullptr;
  if (adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_BORROW, &bundle, &error) != ADRT_OK) {
    return std::string("FAILED to open: ") + error.text;
  }
  uint32_t count = 0, made = 0;
  adrt_bundle_query_targets(bundle, device, nullptr, 0, &count, &error);
  std::vector<adrt_target_report> targets(count, Sized<adrt_target_report>());
  adrt_bundle_query_targets(bundle, device, targets.data(), count, &count, &error);
  std::string outcome, lacks;
  for (uint32_t target = 0; target < count && outcome.empty(); ++target) {
    if (std::strncmp(targets[target].name, "vulkan:", 7) != 0) continue;
    if (targets[target].verdict == ADRT_TARGET_REFUSED) {
      lacks = std::string("lacks for ") + targets[target].name + ": " + targets[target].reason;
      continue;
    }
    adrt_module* module = nullptr;
    if (adrt_module_load_target(device, bundle, target, &module, &error) != ADRT_OK) {
      outcome = std::string("FAILED for ") + targets[target].name + ": " + error.text;
    } else {
      ++made;
      adrt_module_release(module);
    }
  }
  adrt_bundle_release(bundle);
  if (!outcome.empty()) return outcome;
  return made == 0 && !lacks.empty() ? lacks : std::to_string(made);
}

}  // namespace

int main(int count, char** words) {
  auto host = Sized<adrt_host>();
  host.flags = ADRT_HOST_TRUST;
  adrt_error error = {};
  adrt_device* device = nullptr;
  auto report = Sized<adrt_device_report>();
  if (adrt_device_open_vk(&host, nullptr, &device, &error) != ADRT_OK ||
      adrt_device_info(device, &report, &error) != ADRT_OK) {
    std::fprintf(stderr, "no Vulkan device: %s\n", error.text);
    return 1;
  }
  std::fprintf(stderr, "%s\n", report.name);
  if (count == 3 && std::strcmp(words[1], "--device-name") == 0 && !std::strstr(report.name, words[2])) {
    std::fprintf(stderr, "that is not '%s'\n", words[2]);
    return 1;
  }
  for (std::string path; std::getline(std::cin, path);) {
    std::printf("%s\t", path.c_str());
    std::fflush(stdout);
    std::printf("%s\n", Make(host, device, path).c_str());
    std::fflush(stdout);
  }
  adrt_device_release(device);
  return 0;
}

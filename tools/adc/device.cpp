#include "device.h"

#include <adrt/adrt_cuda.h>
#include <adrt/adrt_hip.h>
#include <adrt/adrt_metal.h>
#include <adrt/adrt_vk.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "check_spirv.h"
#include "heap_trace.h"
#include "print.h"
#include "support/nearest.h"
#include "target/target.h"

namespace adc::tool {

namespace {

/// How a kind of device is opened.
struct Kind {
  std::string_view name;
  adrt_status (*open)(const adrt_host& host, const DeviceChoice& choice, uint32_t workers,
                      adrt_device** device, adrt_error* error);
};

adrt_status OpenCpu(const adrt_host& host, const DeviceChoice&, uint32_t workers, adrt_device** device,
                    adrt_error* error) {
  return adrt_device_open_cpu(&host, workers, device, error);
}

adrt_status OpenVulkan(const adrt_host& host, const DeviceChoice& choice, uint32_t, adrt_device** device,
                       adrt_error* error) {
  auto desc = Sized<adrt_vk_open_desc>();
  desc.index = choice.index;
  if (choice.validate) desc.flags |= ADRT_VK_VALIDATE;
  if (choice.confined) desc.flags |= ADRT_VK_ROBUST;
  if (choice.confined) desc.check_spirv = CheckOfSpirv();
  return adrt_device_open_vk(&host, &desc, device, error);
}

adrt_status OpenCuda(const adrt_host& host, const DeviceChoice& choice, uint32_t, adrt_device** device,
                     adrt_error* error) {
  auto desc = Sized<adrt_cuda_desc>();
  desc.index = choice.index;
  return adrt_device_open_cuda(&host, &desc, device, error);
}

adrt_status OpenHip(const adrt_host& host, const DeviceChoice& choice, uint32_t, adrt_device** device,
                    adrt_error* error) {
  auto desc = Sized<adrt_hip_desc>();
  desc.index = choice.index;
  return adrt_device_open_hip(&host, &desc, device, error);
}

adrt_status OpenMetal(const adrt_host& host, const DeviceChoice& choice, uint32_t, adrt_device** device,
                      adrt_error* error) {
  if (choice.index == 0) return adrt_device_open_metal(&host, nullptr, device, error);
  std::snprintf(error->text, sizeof error->text, "Metal gives its default device alone");
  return error->status = ADRT_ERROR_NOT_FOUND;
}

constexpr Kind kKinds[] = {
    {"cpu", OpenCpu}, {"cuda", OpenCuda}, {"hip", OpenHip}, {"vulkan", OpenVulkan}, {"metal", OpenMetal}};

const Kind* FindKind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string TakeDevice(std::string_view word, DeviceChoice* choice) {
  size_t colon = word.find(':');
  std::string_view name = word.substr(0, colon);
  if (FindKind(name) == nullptr) {
    std::string known;
    std::vector<std::string_view> names;
    for (const Kind& kind : kKinds) {
      known += (known.empty() ? "" : ", ") + std::string(kind.name);
      names.push_back(kind.name);
    }
    std::string_view near = NearestName(name, names);
    return near.empty() ? "is not one of " + known : "did you mean '" + std::string(near) + "'?";
  }
  choice->kind = name;
  choice->index = 0;
  if (colon == std::string_view::npos) return {};
  std::string_view number = word.substr(colon + 1);
  auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), choice->index);
  bool good =
      name != "cpu" && !number.empty() && failure == std::errc() && end == number.data() + number.size();
  return good ? "" : "expects KIND or KIND:NUMBER, as in " + std::string(kKinds[1].name) + ":1";
}

/// The number after "sm_" in the name of a processor; 0 where there is none.
uint32_t SmOf(std::string_view arch) {
  uint32_t number = 0;
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

}  // namespace

std::string DeviceChoice::Name() const {
  return index == 0 ? kind : kind + ":" + std::to_string(index);
}

void AddDeviceOptions(CommandLine& line, DeviceChoice* choice) {
  std::string kinds;
  for (const Kind& kind : kKinds) kinds += (kinds.empty() ? "" : ", ") + std::string(kind.name);
  line.Value("--device", "KIND[:N]", "where to run: " + kinds + "; N counts from 0; default cpu",
             [choice](std::string_view word) { return TakeDevice(word, choice); });
  line.Flag("--validate", "Vulkan: with the validation layer; exit code 4 where it finds a fault",
            &choice->validate);
}

std::vector<std::string> DeviceKinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

void* OpenedDevice::Allocate(void* watch, size_t size, size_t alignment) {
  void* memory = ::operator new(size, std::align_val_t{alignment}, std::nothrow);
  if (memory != nullptr) ++static_cast<Watch*>(watch)->blocks;
  return memory;
}

void OpenedDevice::Release(void* watch, void* memory, size_t, size_t alignment) {
  if (memory != nullptr) --static_cast<Watch*>(watch)->blocks;
  ::operator delete(memory, std::align_val_t{alignment});
}

/// Messages of the loader for people are not shown; faults that the validation layer finds are.
void OpenedDevice::TakeMessage(void* watch, const char* text) {
  if (std::string_view(text).find("validation: ") == std::string_view::npos) return;
  ++static_cast<Watch*>(watch)->faults;
  PrintAside("%s\n", text);
}

adrt_status OpenedDevice::Open(const DeviceChoice& choice, uint32_t workers, adrt_error* error) {
  auto host = Sized<adrt_host>();
  host.user = watch_.get();
  host.allocate = Allocate;
  host.release = Release;
  host.log = TakeMessage;
  if (choice.traces_heap) host.trace_heap = PrintHeapTrace;
  Device device;
  adrt_status status = FindKind(choice.kind)->open(host, choice, workers, device.Out(), error);
  if (status != ADRT_OK) return status;
  device_ = std::move(device);
  confined_ = choice.confined;
  report_ = Sized<adrt_device_report>();
  return adrt_device_info(device_.get(), &report_, error);
}

std::string OpenedDevice::Close() {
  uint32_t before = watch_->faults;
  device_ = Device();
  uint32_t faults = watch_->faults - before;
  int64_t blocks = watch_->blocks;
  if (faults > 0) return "the validation layer found " + std::to_string(faults) + " faults as it was closed";
  return blocks == 0 ? "" : std::to_string(blocks) + " blocks of memory were still held as it was closed";
}

std::vector<std::string> OpenedDevice::Targets() const {
  if (IsCpu()) return {target::HostTarget()};
  std::string_view kind = report_.kind, arch = report_.arch;
  // PTX for an older processor runs on a newer one.
  const target::Target* best = nullptr;
  std::vector<std::string> names;
  for (const target::Target& target : target::AllTargets()) {
    if (target.KindName() != kind) continue;
    bool exact = target.ArchName() == arch;
    bool older = target.kind == target::Kind::Cuda && target.level <= SmOf(arch);
    if ((exact || older) && (best == nullptr || target.level >= best->level)) best = &target;
    // A Vulkan version leaves features to the device: code for an older one may ask for fewer.
    bool asked = target.features.empty() != confined_;
    if (target.kind == target::Kind::Vulkan && target.ArchName() <= arch && asked)
      names.push_back(target.name);
  }
  if (names.empty()) names.push_back(best != nullptr ? best->name : std::string(kind));
  return names;
}

}  // namespace adc::tool

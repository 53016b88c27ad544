#include "vulkan/device.h"

#include "artifact/gpu_abi.h"
#include "core/host.h"
#include "core/launch.h"

// The parts that are the same for wrapped and opened devices: describing the device, judging targets, the
// caller's descriptor, the end.

namespace adrt::vulkan {
namespace {

// Threads that a device runs at once decide how many rows a heap has. Vulkan does not say how many they are;
// these are what large, small and no GPUs run. Fewer cost speed, more cost memory.
uint32_t ThreadsAtOnce(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 1u << 18;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 1u << 12;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
    case VK_PHYSICAL_DEVICE_TYPE_OTHER:
    case VK_PHYSICAL_DEVICE_TYPE_MAX_ENUM:
      break;
  }
  return 1u << 15;
}

uint32_t VersionOfArch(std::string_view arch) {
  if (arch == "1.2") return VK_API_VERSION_1_2;
  if (arch == "1.3") return VK_API_VERSION_1_3;
  return UINT32_MAX;
}

bool NeedsAddresses(const artifact::TargetMeta& target) {
  for (const artifact::String& name : target.features) {
    if (name == "bufferDeviceAddress") return true;
  }
  return false;
}

bool Judge(const adrt_device& base, const artifact::TargetMeta& target, uint32_t* rank,
           artifact::TextWriter& reason) {
  const Device& device = Of(base);
  uint32_t version = VersionOfArch(target.arch);
  if (version > device.version) {
    reason << "needs Vulkan " << target.arch.view() << ", the device is used as Vulkan " << device.arch;
    return false;
  }
  for (const artifact::String& name : target.features) {
    if (name == ADRT_GPU_TEAM_FEATURE) continue;
    uint32_t feature = FeatureFromName(name);
    if (feature == kFeatureCount) {
      reason << "needs '" << name.view() << "', which this loader does not know";
      return false;
    }
    if (device.enabled >> feature & 1) continue;
    reason << (device.has_all || !MustBeEnabled(feature) ? "the device has no '"
                                                         : "the device was made without '")
           << name.view() << "'";
    return false;
  }
  // Code with device addresses takes buffers of any size and place.
  *rank = version * 2 + (NeedsAddresses(target) ? 1 : 0);
  return true;
}

bool Confines(const artifact::TargetMeta& target) {
  return !NeedsAddresses(target);
}

void Features(const adrt_device& device, artifact::TextWriter& text) {
  bool first = true;
  for (uint32_t feature = 0; feature < kFeatureCount; ++feature) {
    if (!(Of(device).enabled >> feature & 1)) continue;
    text << (first ? "" : " ") << FeatureName(feature);
    first = false;
  }
  if (Of(device).robust) text << (first ? "" : " ") << "robustBufferAccess";
  if (Of(device).robust2) text << " robustBufferAccess2";
}

void Destroy(adrt_device& device) {
  artifact::Allocator allocator = device.host.allocator;
  Delete(allocator, &Of(device));
}

}  // namespace

const DeviceKind kVulkan = {
    .name = "vulkan",
    .payload = artifact::section::kSpirv,
    .host_memory = false,
    .judge = Judge,
    .confines = Confines,
    .load = Load,
    .unload = Unload,
    .destroy = Destroy,
    .features = Features,
    .bind = Bind,
    .data = Data,
    .allocate = Allocate,
    .release = Release,
    .write = Write,
    .read = Read,
    .begin = Begin,
    .finish = Finish,
    .drop = Drop,
    .clear = Clear,
    .launch = Launch,
    .can_launch = CanLaunch,
    .forget = Forget,
    .barrier = Barrier,
#ifdef ADRT_SEQUENCES
    .sequence = RecordSequence,
    .forget_sequence = ForgetSequence,
    .data_bytes = sizeof(adrt_vk_buffer),
#endif
};

Device::Device(const Host& from) : adrt_device(from, &kVulkan, 1) {}

Device::~Device() {
  if (handle && api.DestroyDevice) {
    ReleaseRecorders(*this);
    ReleaseBlocks(*this);
    if (owned) api.DestroyDevice(handle, nullptr);
  }
  if (owned) CloseInstance(*this);
  mutex.Destroy();
  queue_mutex.Destroy();
  staging_mutex.Destroy();
}

void Describe(Device& device, bool push_descriptors, bool budget) {
  VkPhysicalDeviceProperties2 head = {};
  head.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  VkPhysicalDeviceVulkan11Properties vulkan11 = {};
  vulkan11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  VkPhysicalDeviceVulkan12Properties vulkan12 = {};
  vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  VkPhysicalDeviceVulkan13Properties vulkan13 = {};
  vulkan13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
  VkPhysicalDevicePushDescriptorPropertiesKHR push = {};
  push.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR;
  head.pNext = &vulkan11;
  vulkan11.pNext = &vulkan12;
  void** end = &vulkan12.pNext;
  if (device.version >= VK_API_VERSION_1_3) {
    *end = &vulkan13;
    end = &vulkan13.pNext;
  }
  if (push_descriptors) *end = &push;
  device.api.GetPhysicalDeviceProperties2(device.physical, &head);

  const VkPhysicalDeviceLimits& from = head.properties.limits;
  Limits& limits = device.limits;
  limits.storage_range = from.maxStorageBufferRange;
  limits.storage_alignment = from.minStorageBufferOffsetAlignment ? from.minStorageBufferOffsetAlignment : 1;
  limits.storage_count = from.maxPerStageDescriptorStorageBuffers;
  for (uint32_t own : {from.maxDescriptorSetStorageBuffers, from.maxPerStageResources})
    limits.storage_count = own < limits.storage_count ? own : limits.storage_count;
  limits.push_count = push_descriptors && device.api.CmdPushDescriptorSetKHR ? push.maxPushDescriptors : 0;
  limits.group_count = from.maxComputeWorkGroupCount[0];
  limits.group_size = from.maxComputeWorkGroupSize[0] < from.maxComputeWorkGroupInvocations
                          ? from.maxComputeWorkGroupSize[0]
                          : from.maxComputeWorkGroupInvocations;
  limits.shared_bytes = from.maxComputeSharedMemorySize;
  limits.allocation = vulkan11.maxMemoryAllocationSize;
  if (vulkan13.maxBufferSize != 0 && vulkan13.maxBufferSize < limits.allocation) {
    limits.allocation = vulkan13.maxBufferSize;
  }
  device.enabled |= FeaturesOfProperties(vulkan11, vulkan12);
  device.has_addresses = device.enabled >> FeatureFromName("bufferDeviceAddress") & 1;
  device.cuts_loops = vulkan12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  VkPhysicalDeviceType type = head.properties.deviceType;
  device.host_sees_memory =
      type == VK_PHYSICAL_DEVICE_TYPE_CPU || type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  device.tells_budget = budget;
  device.worker_count = ThreadsAtOnce(type);
  device.most_blocks = limits.group_count;
  // Updates without float atomics slow each other down; a driver that cuts loops off gets short ones.
  device.summing_turns = device.cuts_loops ? 0 : 1;
  device.wave = vulkan11.subgroupSize;
  artifact::TextWriter(device.arch, sizeof device.arch)
      << VK_API_VERSION_MAJOR(device.version) << "." << VK_API_VERSION_MINOR(device.version);
  artifact::TextWriter(device.label, sizeof device.label) << head.properties.deviceName;

  VkPhysicalDeviceMemoryProperties2 memory = {};
  memory.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  device.api.GetPhysicalDeviceMemoryProperties2(device.physical, &memory);
  device.memory = memory.memoryProperties;
}

}  // namespace adrt::vulkan

#include "core/host.h"
#include "vulkan/device.h"

// A device of the caller, and the features that it must have enabled when it was made. Vulkan cannot be asked
// which features and extensions of a device are enabled, so the caller says.

using adrt::Fail;
using namespace adrt::vulkan;

namespace {

constexpr const char* kPushDescriptors = VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
constexpr const char* kBudget = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;

bool Has(const adrt_vk_desc& desc, std::string_view extension) {
  for (uint32_t index = 0; index < desc.extension_count; ++index) {
    if (desc.extensions[index] && extension == desc.extensions[index]) return true;
  }
  return false;
}

bool FillWrapped(const adrt_vk_desc& desc, Device& device, adrt_error* error) {
  device.instance = static_cast<VkInstance>(desc.instance);
  device.physical = static_cast<VkPhysicalDevice>(desc.physical_device);
  device.queue = static_cast<VkQueue>(desc.queue);
  device.queue_family = desc.queue_family;
  device.version = desc.api_version ? desc.api_version : VK_API_VERSION_1_2;
  device.lock_user = desc.user;
  device.lock_queue = desc.lock_queue;
  device.unlock_queue = desc.unlock_queue;
  device.enabled = FeaturesOfChain(desc.features);
  device.robust = IsRobust(desc.features);
  device.robust2 = device.robust && IsRobust2(desc.features);
  device.check_user = desc.user;
  device.check_spirv = desc.check_spirv;
  device.callbacks = static_cast<const VkAllocationCallbacks*>(desc.allocation_callbacks);
  device.pipeline_cache = reinterpret_cast<VkPipelineCache>(static_cast<uintptr_t>(desc.pipeline_cache));
  device.names = (desc.flags & ADRT_VK_NAMES) != 0;
  device.lazy = (desc.flags & ADRT_VK_LAZY) != 0;
  device.api.GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(desc.get_instance_proc_addr);
  VkDevice handle = static_cast<VkDevice>(desc.device);
  if (!device.api.FillInstance(device.instance, false, error) || !device.api.FillDevice(handle, error)) {
    return false;
  }
  device.handle = handle;
  const Api& api = device.api;
  if (device.names &&
      !(api.SetDebugUtilsObjectNameEXT && api.CmdBeginDebugUtilsLabelEXT && api.CmdEndDebugUtilsLabelEXT)) {
    return adrt::Refuse(error, ADRT_ERROR_DEVICE_FEATURE,
                        "device_wrap_vk: ADRT_VK_NAMES: VK_EXT_debug_utils is not enabled in the instance");
  }
  Describe(device, Has(desc, kPushDescriptors), Has(desc, kBudget));
  return true;
}

// The target of a bundle that a question is about; null with the error set.
const adc::artifact::TargetMeta* VulkanTarget(const adrt_bundle* bundle, uint32_t target,
                                              const char* function, adrt_error* error) {
  const adc::artifact::Vector<adc::artifact::TargetMeta>& targets = bundle->metadata.targets;
  if (target >= targets.size()) {
    Fail(error, ADRT_ERROR_ARGUMENT, function, ": no target ", target, ": the bundle has ",
         uint64_t{targets.size()});
    return nullptr;
  }
  if (targets[target].kind == "vulkan") return &targets[target];
  Fail(error, ADRT_ERROR_ARGUMENT, function, ": target '", targets[target].name.view(),
       "' is none for Vulkan");
  return nullptr;
}

adrt_status Unknown(const adc::artifact::TargetMeta& target, std::string_view feature, adrt_error* error) {
  return Fail(error, ADRT_ERROR_UNSUPPORTED, "target '", target.name.view(), "' needs '", feature,
              "', which this loader does not know");
}

// Adds a text once; false where the list is full.
bool Add(const char* text, const char** list, uint32_t capacity, uint32_t* count) {
  for (uint32_t index = 0; index < *count; ++index) {
    if (std::string_view(list[index]) == text) return true;
  }
  if (*count == capacity) return false;
  list[(*count)++] = text;
  return true;
}

}  // namespace

adrt_status adrt_vk_required_extensions(const adrt_bundle* bundle, uint32_t target,
                                        adrt_vk_requirements* requirements, adrt_error* error) {
  adrt::Alive(__func__, bundle);
  constexpr const char* kFunction = "vk_required_extensions";
  if (!bundle || !requirements) return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": null argument");
  const adc::artifact::TargetMeta* meta = VulkanTarget(bundle, target, kFunction, error);
  if (!meta) return ADRT_ERROR_ARGUMENT;
  adrt_vk_requirements made = {};
  constexpr uint32_t kExtensions = sizeof made.extensions / sizeof made.extensions[0];
  constexpr uint32_t kFeatures = sizeof made.features / sizeof made.features[0];
  static_assert(kFeatureCount <= kFeatures);
  made.api_version = meta->arch == "1.3" ? VK_API_VERSION_1_3 : VK_API_VERSION_1_2;
  for (const adc::artifact::String& name : meta->features) {
    uint32_t feature = FeatureFromName(name);
    if (feature == kFeatureCount) return Unknown(*meta, name, error);
    Add(FeatureName(feature), made.features, kFeatures, &made.feature_count);
    const char* extension = FeatureExtension(feature);
    if (*extension && !Add(extension, made.extensions, kExtensions, &made.extension_count)) {
      return Fail(error, ADRT_ERROR_UNSUPPORTED, "target '", meta->name.view(),
                  "' needs too many extensions");
    }
  }
  made.wanted[made.wanted_count++] = kPushDescriptors;
  made.wanted[made.wanted_count++] = kBudget;
  if (!adrt::CopyReport(made, requirements)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": struct_size is not set");
  }
  return ADRT_OK;
}

adrt_status adrt_vk_require_features(const adrt_bundle* bundle, uint32_t target, void* features2,
                                     adrt_error* error) {
  adrt::Alive(__func__, bundle);
  constexpr const char* kFunction = "vk_require_features";
  if (!bundle || !features2) return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": null argument");
  const adc::artifact::TargetMeta* meta = VulkanTarget(bundle, target, kFunction, error);
  if (!meta) return ADRT_ERROR_ARGUMENT;
  for (const adc::artifact::String& name : meta->features) {
    uint32_t feature = FeatureFromName(name);
    if (feature == kFeatureCount) return Unknown(*meta, name, error);
    if (!MustBeEnabled(feature) || SetInChain(feature, features2)) continue;
    return Fail(error, ADRT_ERROR_DEVICE_FEATURE, "target '", meta->name.view(), "' needs '", name.view(),
                "', and no structure of the chain has it");
  }
  return ADRT_OK;
}

adrt_status adrt_device_wrap_vk(const adrt_host* host, const adrt_vk_desc* desc, adrt_device** device,
                                adrt_error* error) {
  constexpr const char* kFunction = "device_wrap_vk";
  if (!desc || !device) return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": null argument");
  adrt_vk_desc wanted = {};
  if (!adrt::CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": ", adrt::kNotSet);
  }
  if (!wanted.instance || !wanted.physical_device || !wanted.device || !wanted.get_instance_proc_addr ||
      (!wanted.extensions && wanted.extension_count > 0) || !wanted.lock_queue != !wanted.unlock_queue) {
    return Fail(
        error, ADRT_ERROR_ARGUMENT, kFunction,
        ": needs instance, physical_device, device and get_instance_proc_addr; extensions and their count, "
        "lock_queue and unlock_queue go together");
  }
  adrt_vk_hooks hooks = {};
  if (wanted.hooks && !adrt::CopyDescriptor(wanted.hooks, &hooks)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": hooks: ", adrt::kNotSet);
  }
  if (wanted.flags & ~(ADRT_VK_NAMES | ADRT_VK_LAZY)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, kFunction,
                ": unknown flags: ADRT_VK_NAMES and ADRT_VK_LAZY are taken");
  }
  if (wanted.api_version != 0 && wanted.api_version < VK_API_VERSION_1_2) {
    return Fail(error, ADRT_ERROR_DEVICE_FEATURE, kFunction, ": needs Vulkan 1.2");
  }
  adrt::Host made;
  if (!adrt::MakeHost(host, &made, error)) return ADRT_ERROR_ARGUMENT;
  Device* created = adrt::New<Device>(made.allocator, made);
  if (!created) return adrt::OutOfMemory(error);
  adrt_error own = {};
  own.struct_size = sizeof own;
  adrt_error* details = error && error->struct_size >= sizeof(adrt_error) ? error : &own;
  created->hooks = hooks;
  if (!FillWrapped(wanted, *created, details)) {
    adrt_device_release(created);
    return details->status;
  }
  *device = created;
  return ADRT_OK;
}

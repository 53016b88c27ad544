#include "core/host.h"
#include "core/targets.h"
#include "vulkan/device.h"
#include "vulkan/offers.h"

// Which code of a bundle a physical device should be made for, before there is a device.

using adrt::Fail;
using namespace adrt::vulkan;

adrt_status adrt_vk_choose_target(const adrt_bundle* bundle, const adrt_vk_desc* desc, uint32_t* target,
                                  adrt_error* error) {
  adrt::Alive(__func__, bundle);
  constexpr const char* kFunction = "vk_choose_target";
  if (!bundle || !desc || !target) return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": null argument");
  adrt_vk_desc wanted = {};
  if (!adrt::CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, kFunction, ": ", adrt::kNotSet);
  }
  if (!wanted.instance || !wanted.physical_device || !wanted.get_instance_proc_addr) {
    return Fail(error, ADRT_ERROR_ARGUMENT, kFunction,
                ": needs instance, physical_device and get_instance_proc_addr");
  }
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt::Host host = bundle->host;
  Device device(host);  // of which only what it could be made with is asked
  device.instance = static_cast<VkInstance>(wanted.instance);
  device.physical = static_cast<VkPhysicalDevice>(wanted.physical_device);
  device.version = wanted.api_version ? wanted.api_version : VK_API_VERSION_1_2;
  device.has_all = true;
  device.api.GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(wanted.get_instance_proc_addr);
  Offers offers;
  if (!device.api.FillInstance(device.instance, true, details) ||
      !FindOffers(device.api, device.physical, &device.host.allocator, &offers, details))
    return details->status;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  device.api.GetPhysicalDeviceProperties2(device.physical, &properties);
  uint32_t version = properties.properties.apiVersion;
  if (version < VK_API_VERSION_1_2) {
    return Fail(error, ADRT_ERROR_DEVICE_FEATURE, "'", properties.properties.deviceName,
                "' is older than Vulkan 1.2");
  }
  if (version < device.version) device.version = version;
  device.enabled = offers.features;
  Describe(device, offers.has[kPushDescriptor], offers.has[kBudget]);
  uint32_t chosen = 0;
  if (!adrt::ChooseTargetFor(device, *bundle, &chosen, error)) return ADRT_ERROR_NO_TARGET;
  *target = chosen;
  return ADRT_OK;
}

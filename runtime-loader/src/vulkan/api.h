#pragma once
// The Vulkan functions as a table, filled from vkGetInstanceProcAddr and vkGetDeviceProcAddr: the loader
// links no Vulkan library, and tests put in a driver of their own. Also how a call that failed is reported.

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

#include "core/errors.h"

namespace adrt::vulkan {

struct Api {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
#define ADC_VK_GLOBAL(name) PFN_vk##name name = nullptr;
#define ADC_VK_INSTANCE(name) PFN_vk##name name = nullptr;
#define ADC_VK_OPENING(name) PFN_vk##name name = nullptr;
#define ADC_VK_DEVICE(name) PFN_vk##name name = nullptr;
#define ADC_VK_OPTIONAL(name) PFN_vk##name name = nullptr;
#include "vulkan/entry_points.def"
#undef ADC_VK_GLOBAL
#undef ADC_VK_INSTANCE
#undef ADC_VK_OPENING
#undef ADC_VK_DEVICE
#undef ADC_VK_OPTIONAL

  /// Each needs GetInstanceProcAddr, the later ones the earlier. False: the error names the function that the
  /// driver does not have.
  bool FillGlobal(adrt_error* error);
  bool FillInstance(VkInstance instance, bool opening, adrt_error* error);
  bool FillDevice(VkDevice device, adrt_error* error);
};

/// "VK_ERROR_DEVICE_LOST", or null for a result that has no name here.
const char* ResultName(VkResult result);

/// Reports that the Vulkan function `call` gave `result`: ADRT_ERROR_DRIVER with its name and the result's,
/// ADRT_ERROR_DEVICE_LOST, or one of the two out of memory. Always false.
bool DriverFailed(adrt_error* error, const char* call, VkResult result);

/// An enumeration of a driver that grows between the two calls is asked again so often.
inline constexpr int kEnumerationTries = 4;

}  // namespace adrt::vulkan

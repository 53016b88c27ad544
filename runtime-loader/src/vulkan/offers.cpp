#include "vulkan/offers.h"

#include <string_view>

namespace adrt::vulkan {

const char* const kExtensionNames[kExtensionCount] = {
    VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
    VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME, VK_EXT_SHADER_ATOMIC_FLOAT_2_EXTENSION_NAME,
    VK_EXT_ROBUSTNESS_2_EXTENSION_NAME};

bool FindOffers(const Api& api, VkPhysicalDevice physical, artifact::Allocator* allocator, Offers* offers,
                adrt_error* error) {
  Vector<VkExtensionProperties> list(allocator);
  VkResult result =
      Enumerate(&list, VkExtensionProperties{}, [&](uint32_t* count, VkExtensionProperties* found) {
        return api.EnumerateDeviceExtensionProperties(physical, nullptr, count, found);
      });
  if (result != VK_SUCCESS) return DriverFailed(error, "vkEnumerateDeviceExtensionProperties", result);
  for (const VkExtensionProperties& extension : list) {
    for (int known = 0; known < kExtensionCount; ++known) {
      if (std::string_view(extension.extensionName) == kExtensionNames[known]) offers->has[known] = true;
    }
  }
  offers->has[kAtomicFloat2] = offers->has[kAtomicFloat2] && offers->has[kAtomicFloat];
  FeatureChain supported(offers->has[kAtomicFloat], offers->has[kAtomicFloat2], offers->has[kRobustness2]);
  api.GetPhysicalDeviceFeatures2(physical, &supported.head);
  offers->features = FeaturesOfChain(&supported.head);
  offers->robust2 = IsRobust2(&supported.head);
  return true;
}

}  // namespace adrt::vulkan

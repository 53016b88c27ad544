#pragma once
// The features that bundles may ask of a Vulkan device (artifact/vulkan_features.def), found in and written
// into the chains of structures that Vulkan speaks.

#include <string_view>

#include "vulkan/api.h"

namespace adrt::vulkan {

inline constexpr uint32_t kFeatureCount =
#define ADC_VULKAN_FEATURE(name, core, own, extension) +1
#define ADC_VULKAN_SUBGROUP(name, bit) +1
#define ADC_VULKAN_FLOAT_CONTROL(name) +1
#include "artifact/vulkan_features.def"
#undef ADC_VULKAN_FEATURE
#undef ADC_VULKAN_SUBGROUP
#undef ADC_VULKAN_FLOAT_CONTROL
    ;
static_assert(kFeatureCount <= 64);

/// A set of rows of the table, by index.
using FeatureSet = uint64_t;

const char* FeatureName(uint32_t feature);
/// kFeatureCount where no row has that name.
uint32_t FeatureFromName(std::string_view name);
/// The device extension that a feature comes from, or "".
const char* FeatureExtension(uint32_t feature);
/// Whether the feature is one that must be enabled when the device is made; the others it has or has not.
bool MustBeEnabled(uint32_t feature);

/// The features that are on in a chain that begins anywhere, usually with a VkPhysicalDeviceFeatures2. Null:
/// none.
FeatureSet FeaturesOfChain(const void* chain);
/// Whether such a chain turns robustBufferAccess on.
bool IsRobust(const void* chain);
/// The same of robustBufferAccess2, of VK_EXT_robustness2, which takes the other.
bool IsRobust2(const void* chain);
/// Turns a feature on in the first structure of the chain that has it. False where none has.
bool SetInChain(uint32_t feature, void* chain);

/// Subgroup operations and float controls of a physical device of Vulkan 1.2.
FeatureSet FeaturesOfProperties(const VkPhysicalDeviceVulkan11Properties& subgroups,
                                const VkPhysicalDeviceVulkan12Properties& floats);

/// Every feature structure that the table knows, linked: to ask a device, or to make one.
struct FeatureChain {
  /// The structures of an extension are linked only where the device has it.
  FeatureChain(bool atomic_float, bool atomic_float2, bool robustness2);
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  VkPhysicalDeviceFeatures2 head = {};
  VkPhysicalDeviceVulkan11Features vulkan11 = {};
  VkPhysicalDeviceVulkan12Features vulkan12 = {};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float_features = {};
  VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT atomic_float2_features = {};
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2_features = {};
};

}  // namespace adrt::vulkan

#include "vulkan/features.h"

#include <cstddef>

// Vulkan says one thing in two places: bufferDeviceAddress is a member of VkPhysicalDeviceVulkan12Features
// and of VkPhysicalDeviceBufferDeviceAddressFeatures, and an engine may use either. A row of the table
// therefore has two places, each a structure type and an offset in it, and a chain is searched for both.

namespace adrt::vulkan {
namespace {

struct Place {
  VkStructureType type;
  size_t offset;
};
struct Row {
  const char* name;
  const char* extension;
  Place places[2];
};

template <class T>
constexpr VkStructureType TypeOf();
#define TYPE_OF(name, type)                                    \
  template <>                                                  \
  constexpr VkStructureType TypeOf<VkPhysicalDevice##name>() { \
    return VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##type;           \
  }
TYPE_OF(Vulkan11Features, VULKAN_1_1_FEATURES)
TYPE_OF(Vulkan12Features, VULKAN_1_2_FEATURES)
TYPE_OF(BufferDeviceAddressFeatures, BUFFER_DEVICE_ADDRESS_FEATURES)
TYPE_OF(ShaderFloat16Int8Features, SHADER_FLOAT16_INT8_FEATURES)
TYPE_OF(16BitStorageFeatures, 16BIT_STORAGE_FEATURES)
TYPE_OF(8BitStorageFeatures, 8BIT_STORAGE_FEATURES)
TYPE_OF(VariablePointersFeatures, VARIABLE_POINTERS_FEATURES)
TYPE_OF(ShaderAtomicInt64Features, SHADER_ATOMIC_INT64_FEATURES)
TYPE_OF(ScalarBlockLayoutFeatures, SCALAR_BLOCK_LAYOUT_FEATURES)
TYPE_OF(VulkanMemoryModelFeatures, VULKAN_MEMORY_MODEL_FEATURES)
TYPE_OF(ShaderAtomicFloatFeaturesEXT, SHADER_ATOMIC_FLOAT_FEATURES_EXT)
TYPE_OF(ShaderAtomicFloat2FeaturesEXT, SHADER_ATOMIC_FLOAT_2_FEATURES_EXT)
#undef TYPE_OF

// Vulkan 1.0's features lie in a structure inside VkPhysicalDeviceFeatures2, those of extensions in their
// own.
#define IN_STRUCT(name, structure) {TypeOf<structure>(), offsetof(structure, name)}
#define IN_FEATURES2(name) \
  {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, offsetof(VkPhysicalDeviceFeatures2, features.name)}
#define PLACES_10(name, own) IN_FEATURES2(name), IN_FEATURES2(name)
#define PLACES_11(name, own) \
  IN_STRUCT(name, VkPhysicalDeviceVulkan11Features), IN_STRUCT(name, VkPhysicalDevice##own)
#define PLACES_12(name, own) \
  IN_STRUCT(name, VkPhysicalDeviceVulkan12Features), IN_STRUCT(name, VkPhysicalDevice##own)
#define PLACES_Ext(name, own) IN_STRUCT(name, VkPhysicalDevice##own), IN_STRUCT(name, VkPhysicalDevice##own)

constexpr Row kRows[] = {
#define ADC_VULKAN_FEATURE(name, core, own, extension) {#name, extension, {PLACES_##core(name, own)}},
#include "artifact/vulkan_features.def"
#undef ADC_VULKAN_FEATURE
};
constexpr uint32_t kRowCount = sizeof kRows / sizeof kRows[0];

// The properties that a device has or has not, in the order of their bits, which follow those of the rows.
constexpr const char* kPropertyNames[] = {
#define ADC_VULKAN_SUBGROUP(name, bit) #name,
#define ADC_VULKAN_FLOAT_CONTROL(name) #name,
#include "artifact/vulkan_features.def"
#undef ADC_VULKAN_SUBGROUP
#undef ADC_VULKAN_FLOAT_CONTROL
};

}  // namespace

const char* FeatureName(uint32_t feature) {
  return feature < kRowCount ? kRows[feature].name : kPropertyNames[feature - kRowCount];
}

uint32_t FeatureFromName(std::string_view name) {
  uint32_t feature = 0;
  while (feature < kFeatureCount && name != FeatureName(feature)) ++feature;
  return feature;
}

const char* FeatureExtension(uint32_t feature) {
  return feature < kRowCount ? kRows[feature].extension : "";
}

bool MustBeEnabled(uint32_t feature) {
  return feature < kRowCount;
}

FeatureSet FeaturesOfChain(const void* chain) {
  FeatureSet found = 0;
  const VkBaseInStructure* structure = static_cast<const VkBaseInStructure*>(chain);
  for (; structure; structure = structure->pNext) {
    for (uint32_t feature = 0; feature < kRowCount; ++feature) {
      for (const Place& place : kRows[feature].places) {
        if (structure->sType != place.type) continue;
        VkBool32 on = VK_FALSE;
        std::memcpy(&on, reinterpret_cast<const unsigned char*>(structure) + place.offset, sizeof on);
        if (on) found |= FeatureSet{1} << feature;
      }
    }
  }
  return found;
}

bool IsRobust(const void* chain) {
  const VkBaseInStructure* structure = static_cast<const VkBaseInStructure*>(chain);
  for (; structure; structure = structure->pNext) {
    if (structure->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) continue;
    return reinterpret_cast<const VkPhysicalDeviceFeatures2*>(structure)->features.robustBufferAccess;
  }
  return false;
}

bool IsRobust2(const void* chain) {
  const VkBaseInStructure* structure = static_cast<const VkBaseInStructure*>(chain);
  for (; structure; structure = structure->pNext) {
    if (structure->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT) continue;
    return reinterpret_cast<const VkPhysicalDeviceRobustness2FeaturesEXT*>(structure)->robustBufferAccess2;
  }
  return false;
}

bool SetInChain(uint32_t feature, void* chain) {
  VkBaseOutStructure* structure = static_cast<VkBaseOutStructure*>(chain);
  for (; structure; structure = structure->pNext) {
    for (const Place& place : kRows[feature].places) {
      if (structure->sType != place.type) continue;
      const VkBool32 on = VK_TRUE;
      std::memcpy(reinterpret_cast<unsigned char*>(structure) + place.offset, &on, sizeof on);
      return true;
    }
  }
  return false;
}

FeatureSet FeaturesOfProperties(const VkPhysicalDeviceVulkan11Properties& subgroups,
                                const VkPhysicalDeviceVulkan12Properties& floats) {
  FeatureSet found = 0;
  uint32_t feature = kRowCount;
  bool in_compute = subgroups.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT;
#define ADC_VULKAN_SUBGROUP(name, bit)                                                                  \
  if (in_compute && (subgroups.subgroupSupportedOperations & (bit))) found |= FeatureSet{1} << feature; \
  ++feature;
#define ADC_VULKAN_FLOAT_CONTROL(name)                \
  if (floats.name) found |= FeatureSet{1} << feature; \
  ++feature;
#include "artifact/vulkan_features.def"
#undef ADC_VULKAN_SUBGROUP
#undef ADC_VULKAN_FLOAT_CONTROL
  return found;
}

FeatureChain::FeatureChain(bool atomic_float, bool atomic_float2, bool robustness2) {
  head.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  vulkan11.sType = TypeOf<VkPhysicalDeviceVulkan11Features>();
  vulkan12.sType = TypeOf<VkPhysicalDeviceVulkan12Features>();
  atomic_float_features.sType = TypeOf<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>();
  atomic_float2_features.sType = TypeOf<VkPhysicalDeviceShaderAtomicFloat2FeaturesEXT>();
  robustness2_features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
  head.pNext = &vulkan11;
  vulkan11.pNext = &vulkan12;
  void** end = &vulkan12.pNext;
  if (atomic_float) {
    *end = &atomic_float_features;
    end = &atomic_float_features.pNext;
  }
  if (atomic_float2) {
    *end = &atomic_float2_features;
    end = &atomic_float2_features.pNext;
  }
  if (robustness2) *end = &robustness2_features;
}

}  // namespace adrt::vulkan

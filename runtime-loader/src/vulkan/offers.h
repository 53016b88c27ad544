#pragma once
// The parts with which a physical device could be made: extensions that the loader has a use for, and
// features that bundles may ask for.

#include "core/handles.h"
#include "vulkan/features.h"

namespace adrt::vulkan {

// vkEnumerateX into a vector: asked for the count, then for the elements, again where it grew in between.
template <class T, class Ask>
VkResult Enumerate(Vector<T>* list, const T& empty, const Ask& ask) {
  VkResult result = VK_INCOMPLETE;
  for (int tries = 0; tries < kEnumerationTries && result == VK_INCOMPLETE; ++tries) {
    uint32_t count = 0;
    result = ask(&count, nullptr);
    if (result != VK_SUCCESS) return result;
    list->clear();
    if (!list->TryResize(count)) return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (T& element : *list) element = empty;
    if (count == 0) return VK_SUCCESS;
    result = ask(&count, list->data());
    if (result == VK_SUCCESS && !list->TryResize(count)) return VK_ERROR_OUT_OF_HOST_MEMORY;
  }
  return result;
}

enum KnownExtension { kPushDescriptor, kBudget, kAtomicFloat, kAtomicFloat2, kRobustness2, kExtensionCount };
extern const char* const kExtensionNames[kExtensionCount];

struct Offers {
  bool has[kExtensionCount] = {};  ///< the second of the extensions of atomics only beside the first
  FeatureSet features = 0;         ///< of the feature structures
  bool robust2 = false;            ///< robustBufferAccess2
};

/// False with the error set where the device cannot be asked. The instance's functions are there.
bool FindOffers(const Api& api, VkPhysicalDevice physical, artifact::Allocator* allocator, Offers* offers,
                adrt_error* error);

}  // namespace adrt::vulkan

#include "vulkan/api.h"

namespace adrt::vulkan {
namespace {

bool Lacks(adrt_error* error, const char* name) {
  return Refuse(error, ADRT_ERROR_DRIVER, "the Vulkan driver has no function ", name);
}

struct Named {
  VkResult result;
  const char* name;
};
constexpr Named kResults[] = {
#define RESULT(name) {name, #name}
    RESULT(VK_NOT_READY),
    RESULT(VK_TIMEOUT),
    RESULT(VK_INCOMPLETE),
    RESULT(VK_ERROR_OUT_OF_HOST_MEMORY),
    RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY),
    RESULT(VK_ERROR_INITIALIZATION_FAILED),
    RESULT(VK_ERROR_DEVICE_LOST),
    RESULT(VK_ERROR_MEMORY_MAP_FAILED),
    RESULT(VK_ERROR_LAYER_NOT_PRESENT),
    RESULT(VK_ERROR_EXTENSION_NOT_PRESENT),
    RESULT(VK_ERROR_FEATURE_NOT_PRESENT),
    RESULT(VK_ERROR_INCOMPATIBLE_DRIVER),
    RESULT(VK_ERROR_TOO_MANY_OBJECTS),
    RESULT(VK_ERROR_FRAGMENTATION),
    RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE),
    RESULT(VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS),
    RESULT(VK_ERROR_INVALID_SHADER_NV),
    RESULT(VK_PIPELINE_COMPILE_REQUIRED),
    RESULT(VK_ERROR_UNKNOWN),
#undef RESULT
};

}  // namespace

bool Api::FillGlobal(adrt_error* error) {
#define ADC_VK_GLOBAL(name)                                                               \
  name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(VK_NULL_HANDLE, "vk" #name)); \
  if (!name) return Lacks(error, "vk" #name);
#include "vulkan/entry_points.def"
#undef ADC_VK_GLOBAL
  return true;
}

bool Api::FillInstance(VkInstance instance, bool opening, adrt_error* error) {
#define ADC_VK_INSTANCE(name)                                                       \
  name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(instance, "vk" #name)); \
  if (!name) return Lacks(error, "vk" #name);
#define ADC_VK_OPENING(name) \
  if (opening) {             \
    ADC_VK_INSTANCE(name)    \
  }
#include "vulkan/entry_points.def"
#undef ADC_VK_OPENING
#undef ADC_VK_INSTANCE
  return true;
}

bool Api::FillDevice(VkDevice device, adrt_error* error) {
#define ADC_VK_OPTIONAL(name) name = reinterpret_cast<PFN_vk##name>(GetDeviceProcAddr(device, "vk" #name));
#define ADC_VK_DEVICE(name) ADC_VK_OPTIONAL(name) if (!name) return Lacks(error, "vk" #name);
#include "vulkan/entry_points.def"
#undef ADC_VK_DEVICE
#undef ADC_VK_OPTIONAL
  return true;
}

const char* ResultName(VkResult result) {
  for (const Named& row : kResults) {
    if (row.result == result) return row.name;
  }
  return nullptr;
}

bool DriverFailed(adrt_error* error, const char* call, VkResult result) {
  adrt_status status = ADRT_ERROR_DRIVER;
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY) status = ADRT_ERROR_OUT_OF_HOST_MEMORY;
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) status = ADRT_ERROR_OUT_OF_DEVICE_MEMORY;
  if (result == VK_ERROR_DEVICE_LOST) status = ADRT_ERROR_DEVICE_LOST;
  if (const char* name = ResultName(result)) {
    Refuse(error, status, call, " failed with ", name);
  } else {
    Refuse(error, status, call, " failed with VkResult ", int32_t{result});
  }
  if (error && error->struct_size >= sizeof(adrt_error)) error->native_code = result;
  return false;
}

}  // namespace adrt::vulkan

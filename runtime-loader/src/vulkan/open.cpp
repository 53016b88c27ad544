#include "core/host.h"
#include "core/library.h"
#include "platform/driver_names.h"
#include "vulkan/device.h"
#include "vulkan/offers.h"

// A device of the loader's own, for tools and first steps: the system's Vulkan found at run time, an
// instance, one physical device with everything on that bundles may ask for, one queue.

using adrt::Fail;

namespace adrt::vulkan {
namespace {

constexpr const char* kValidation = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR VkBool32 VKAPI_CALL Say(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                   const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  char text[1024];
  artifact::TextWriter(text, sizeof text) << "adrt: validation: " << (data->pMessage ? data->pMessage : "?");
  Log(static_cast<Device*>(user)->host, text);
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT MessengerInfo(Device& device) {
  VkDebugUtilsMessengerCreateInfoEXT info = {};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  info.pfnUserCallback = Say;
  info.pUserData = &device;
  return info;
}

class Opener {
 public:
  Opener(Device& device, const adrt_vk_open_desc& desc, adrt_error* error)
      : device_(device), api_(device.api), desc_(desc), error_(error) {}

  bool Run() {
    device_.owned = device_.has_all = true;
    return FindEntryPoint() && api_.FillGlobal(error_) && MakeInstance() && PickPhysicalDevice() &&
           PickQueueFamily() && MakeDevice();
  }

 private:
  bool Failed(const char* call, VkResult result) { return DriverFailed(error_, call, result); }

  bool FindEntryPoint() {
    api_.GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(desc_.get_instance_proc_addr);
    if (api_.GetInstanceProcAddr) return true;
    void* library = OpenLibrary(platform::kVulkanLibraries, error_);
    if (!library) return false;
    api_.GetInstanceProcAddr =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(FindInLibrary(library, "vkGetInstanceProcAddr"));
    if (api_.GetInstanceProcAddr) return true;
    return Refuse(error_, ADRT_ERROR_NOT_FOUND, platform::kVulkanLibraries[0],
                  " has no vkGetInstanceProcAddr");
  }

  bool HasValidation(bool* has) {
    Vector<VkLayerProperties> layers(&device_.host.allocator);
    VkResult result = Enumerate(&layers, VkLayerProperties{}, [&](uint32_t* count, VkLayerProperties* list) {
      return api_.EnumerateInstanceLayerProperties(count, list);
    });
    if (result != VK_SUCCESS) return Failed("vkEnumerateInstanceLayerProperties", result);
    for (const VkLayerProperties& layer : layers) {
      if (std::string_view(layer.layerName) == kValidation) *has = true;
    }
    return true;
  }

  bool MakeInstance() {
    uint32_t version = 0;
    VkResult result = api_.EnumerateInstanceVersion(&version);
    if (result != VK_SUCCESS) return Failed("vkEnumerateInstanceVersion", result);
    if (version < VK_API_VERSION_1_2) {
      return Refuse(error_, ADRT_ERROR_NOT_FOUND, "this system's Vulkan is older than 1.2");
    }
    device_.version = version < VK_API_VERSION_1_3 ? VK_API_VERSION_1_2 : VK_API_VERSION_1_3;
    bool validate = desc_.flags & ADRT_VK_VALIDATE, has = false;
    if (validate && !HasValidation(&has)) return false;
    if (validate && !has) {
      return Refuse(error_, ADRT_ERROR_NOT_FOUND, "validation needs the layer ", kValidation,
                    ", which is not installed");
    }
    VkApplicationInfo application = {};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pApplicationName = "adrt";
    application.apiVersion = device_.version;
    VkDebugUtilsMessengerCreateInfoEXT messenger = MessengerInfo(device_);
    const VkValidationFeatureEnableEXT synchronization =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT features = {};
    features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    features.pNext = &messenger;
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = &synchronization;
    const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                      VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    VkInstanceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    if (validate) {
      info.pNext = &features;
      info.enabledLayerCount = 1;
      info.ppEnabledLayerNames = &kValidation;
      info.enabledExtensionCount = 2;
      info.ppEnabledExtensionNames = extensions;
    }
    VkInstance instance = VK_NULL_HANDLE;
    result = api_.CreateInstance(&info, nullptr, &instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
      return Refuse(error_, ADRT_ERROR_NOT_FOUND,
                    "this system has no Vulkan driver: vkCreateInstance failed");
    }
    if (result != VK_SUCCESS) return Failed("vkCreateInstance", result);
    if (!api_.FillInstance(instance, true, error_)) {
      // Without the function that destroys it an instance can only be left.
      if (api_.DestroyInstance) api_.DestroyInstance(instance, nullptr);
      return false;
    }
    device_.instance = instance;
    return !validate || MakeMessenger(messenger);
  }

  bool MakeMessenger(const VkDebugUtilsMessengerCreateInfoEXT& info) {
    auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        api_.GetInstanceProcAddr(device_.instance, "vkCreateDebugUtilsMessengerEXT"));
    device_.destroy_messenger = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        api_.GetInstanceProcAddr(device_.instance, "vkDestroyDebugUtilsMessengerEXT"));
    if (!create || !device_.destroy_messenger) {
      return Refuse(error_, ADRT_ERROR_DRIVER,
                    "the Vulkan driver has no function vkCreateDebugUtilsMessengerEXT");
    }
    VkResult result = create(device_.instance, &info, nullptr, &device_.messenger);
    if (result == VK_SUCCESS) return true;
    device_.messenger = VK_NULL_HANDLE;
    return Failed("vkCreateDebugUtilsMessengerEXT", result);
  }

  bool PickPhysicalDevice() {
    Vector<VkPhysicalDevice> list(&device_.host.allocator);
    VkResult result = Enumerate(&list, VkPhysicalDevice{}, [&](uint32_t* count, VkPhysicalDevice* found) {
      return api_.EnumeratePhysicalDevices(device_.instance, count, found);
    });
    if (result != VK_SUCCESS) return Failed("vkEnumeratePhysicalDevices", result);
    if (desc_.index >= list.size()) {
      return Refuse(error_, ADRT_ERROR_NOT_FOUND, "no Vulkan device ", desc_.index, ": this system has ",
                    uint64_t{list.size()});
    }
    device_.physical = list[desc_.index];
    VkPhysicalDeviceProperties2 properties = {};
    properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    api_.GetPhysicalDeviceProperties2(device_.physical, &properties);
    uint32_t version = properties.properties.apiVersion;
    if (version < VK_API_VERSION_1_2) {
      return Refuse(error_, ADRT_ERROR_DEVICE_FEATURE, "'", properties.properties.deviceName,
                    "' is older than Vulkan 1.2");
    }
    if (version < VK_API_VERSION_1_3) device_.version = VK_API_VERSION_1_2;
    return true;
  }

  // A family that computes and does nothing else runs beside a desktop's drawing; else the first that
  // computes.
  bool PickQueueFamily() {
    Vector<VkQueueFamilyProperties2> families(&device_.host.allocator);
    VkQueueFamilyProperties2 empty = {};
    empty.sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
    VkResult result = Enumerate(&families, empty, [&](uint32_t* count, VkQueueFamilyProperties2* list) {
      api_.GetPhysicalDeviceQueueFamilyProperties2(device_.physical, count, list);
      return VK_SUCCESS;
    });
    if (result != VK_SUCCESS) return OutOfMemory(error_) == ADRT_OK;
    bool found = false;
    for (uint32_t family = 0; family < families.size(); ++family) {
      const VkQueueFamilyProperties& properties = families[family].queueFamilyProperties;
      if (!(properties.queueFlags & VK_QUEUE_COMPUTE_BIT) || properties.queueCount == 0) continue;
      bool draws = properties.queueFlags & VK_QUEUE_GRAPHICS_BIT;
      if (found && draws) continue;
      device_.queue_family = family;
      found = true;
      if (!draws) break;
    }
    return found || Refuse(error_, ADRT_ERROR_DEVICE_FEATURE, "the device has no queue that computes");
  }

  bool MakeDevice() {
    Offers offers;
    if (!FindOffers(api_, device_.physical, &device_.host.allocator, &offers, error_)) return false;
    bool robust = desc_.flags & ADRT_VK_ROBUST, robust2 = robust && offers.robust2;
    offers.has[kRobustness2] = robust2;
    FeatureChain chain(offers.has[kAtomicFloat], offers.has[kAtomicFloat2], robust2);
    chain.head.features.robustBufferAccess = robust ? VK_TRUE : VK_FALSE;  // every device has it
    chain.robustness2_features.robustBufferAccess2 = robust2 ? VK_TRUE : VK_FALSE;
    for (uint32_t feature = 0; feature < kFeatureCount; ++feature) {
      if (offers.features >> feature & 1) SetInChain(feature, &chain.head);
    }
    const char* extensions[kExtensionCount];
    uint32_t extension_count = 0;
    for (int known = 0; known < kExtensionCount; ++known) {
      if (offers.has[known]) extensions[extension_count++] = kExtensionNames[known];
    }
    const float priority = 1;
    VkDeviceQueueCreateInfo queue = {};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = device_.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &chain.head;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = extension_count;
    info.ppEnabledExtensionNames = extensions;
    VkDevice handle = VK_NULL_HANDLE;
    VkResult result = api_.CreateDevice(device_.physical, &info, nullptr, &handle);
    if (result != VK_SUCCESS) return Failed("vkCreateDevice", result);
    device_.handle = handle;
    if (!api_.FillDevice(handle, error_)) return false;
    api_.GetDeviceQueue(handle, device_.queue_family, 0, &device_.queue);
    device_.enabled = offers.features;
    device_.robust = IsRobust(&chain.head);
    device_.check_spirv = desc_.check_spirv;
    device_.check_user = desc_.user;
    device_.robust2 = IsRobust2(&chain.head);
    Describe(device_, offers.has[kPushDescriptor], offers.has[kBudget]);
    device_.names = device_.messenger && api_.SetDebugUtilsObjectNameEXT && api_.CmdBeginDebugUtilsLabelEXT &&
                    api_.CmdEndDebugUtilsLabelEXT;
    return true;
  }

  Device& device_;
  Api& api_;
  const adrt_vk_open_desc& desc_;
  adrt_error* error_;
};

}  // namespace

void CloseInstance(Device& device) {
  if (device.messenger) device.destroy_messenger(device.instance, device.messenger, nullptr);
  if (device.instance) device.api.DestroyInstance(device.instance, nullptr);
}

}  // namespace adrt::vulkan

adrt_status adrt_device_open_vk(const adrt_host* host, const adrt_vk_open_desc* desc, adrt_device** device,
                                adrt_error* error) {
  if (!device) return Fail(error, ADRT_ERROR_ARGUMENT, "device_open_vk: null argument");
  adrt_vk_open_desc wanted = {};
  if (desc && !adrt::CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_open_vk: ", adrt::kNotSet);
  }
  if (wanted.flags & ~uint32_t{ADRT_VK_VALIDATE | ADRT_VK_ROBUST}) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_open_vk: unknown flags");
  }
  adrt::Host made;
  if (!adrt::MakeHost(host, &made, error)) return ADRT_ERROR_ARGUMENT;
  adrt::vulkan::Device* created = adrt::New<adrt::vulkan::Device>(made.allocator, made);
  if (!created) return adrt::OutOfMemory(error);
  adrt_error own = {};
  own.struct_size = sizeof own;
  adrt_error* details = error && error->struct_size >= sizeof(adrt_error) ? error : &own;
  if (!adrt::vulkan::Opener(*created, wanted, details).Run()) {
    adrt_device_release(created);
    return details->status;
  }
  *device = created;
  return ADRT_OK;
}

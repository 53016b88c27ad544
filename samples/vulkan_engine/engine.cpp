#include "engine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace engine {

void Fail(const std::string& what) {
  std::fprintf(stderr, "vulkan_engine: %s\n", what.c_str());
  std::exit(1);
}

void Check(VkResult result, const char* call) {
  if (result != VK_SUCCESS) Fail(std::string(call) + " gave " + std::to_string(result));
}

void Check(adrt_status status, const adrt_error& error, const char* call) {
  if (status != ADRT_OK) Fail(std::string(call) + ": " + adrt_status_text(status) + ": " + error.text);
}

namespace {

/// Of Vulkan, as far as this engine uses it. Devices may be older.
constexpr uint32_t kVersion = VK_API_VERSION_1_3;

/// Zeros but for the type that Vulkan wants first.
template <class T>
T Structure(VkStructureType type) {
  T structure = {};
  structure.sType = type;
  return structure;
}

VKAPI_ATTR VkBool32 VKAPI_CALL TakeMessage(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                           VkDebugUtilsMessageTypeFlagsEXT,
                                           const VkDebugUtilsMessengerCallbackDataEXT* data, void* faults) {
  std::fprintf(stderr, "validation: %s\n", data->pMessage);
  ++*static_cast<uint32_t*>(faults);
  return VK_FALSE;
}

bool Offers(VkPhysicalDevice physical, const char* extension) {
  uint32_t count = 0;
  Check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr),
        "vkEnumerateDeviceExtensionProperties");
  std::vector<VkExtensionProperties> list(count);
  Check(vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, list.data()),
        "vkEnumerateDeviceExtensionProperties");
  for (const VkExtensionProperties& one : list) {
    if (std::strcmp(one.extensionName, extension) == 0) return true;
  }
  return false;
}

}  // namespace

Device::Device(const adrt_bundle* bundle, bool validate) : validate_(validate) {
  MakeInstance();
  MakeDevice(bundle);
  auto pool = Structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = queue_family_;
  Check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
  auto commands = Structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
  commands.commandPool = pool_;
  commands.commandBufferCount = 1;
  Check(vkAllocateCommandBuffers(device_, &commands, &commands_), "vkAllocateCommandBuffers");
  auto fence = Structure<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
  Check(vkCreateFence(device_, &fence, nullptr, &fence_), "vkCreateFence");
}

Device::~Device() {
  vkDestroyFence(device_, fence_, nullptr);
  vkDestroyCommandPool(device_, pool_, nullptr);
  vkDestroyDevice(device_, nullptr);
  if (messenger_) {
    auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance_, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance_, messenger_, nullptr);
  }
  vkDestroyInstance(instance_, nullptr);
}

void Device::MakeInstance() {
  const char* const layer = "VK_LAYER_KHRONOS_validation";
  const char* const extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  auto application = Structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = "vulkan_engine";
  application.apiVersion = kVersion;
  auto messenger =
      Structure<VkDebugUtilsMessengerCreateInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType =
      VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = TakeMessage;
  messenger.pUserData = &faults_;
  auto info = Structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  info.pApplicationInfo = &application;
  if (validate_) {
    info.pNext = &messenger;
    info.enabledLayerCount = info.enabledExtensionCount = 1;
    info.ppEnabledLayerNames = &layer;
    info.ppEnabledExtensionNames = &extension;
  }
  Check(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
  if (!validate_) return;
  auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      vkGetInstanceProcAddr(instance_, "vkCreateDebugUtilsMessengerEXT"));
  Check(create(instance_, &messenger, nullptr, &messenger_), "vkCreateDebugUtilsMessengerEXT");
}

// The first device with a queue that computes, made with what the bundle asks for. A larger engine adds this
// to what it wants for itself.
void Device::MakeDevice(const adrt_bundle* bundle) {
  uint32_t count = 1;
  VkResult result = vkEnumeratePhysicalDevices(instance_, &count, &physical_);
  if (result != VK_INCOMPLETE) Check(result, "vkEnumeratePhysicalDevices");
  if (count == 0) Fail("this machine has no Vulkan device");
  vkGetPhysicalDeviceProperties(physical_, &properties_);

  std::vector<VkQueueFamilyProperties> families(16);
  uint32_t family_count = static_cast<uint32_t>(families.size());
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &family_count, families.data());
  while (queue_family_ < family_count && !(families[queue_family_].queueFlags & VK_QUEUE_COMPUTE_BIT))
    ++queue_family_;
  if (queue_family_ == family_count) Fail("the device has no queue that computes");

  adrt_error error = {};
  error.struct_size = sizeof error;
  adrt_vk_desc asked = Describe();
  Check(adrt_vk_choose_target(bundle, &asked, &target_, &error), error, "adrt_vk_choose_target");
  adrt_vk_requirements needs = {};
  needs.struct_size = sizeof needs;
  Check(adrt_vk_required_extensions(bundle, target_, &needs, &error), error, "adrt_vk_required_extensions");
  extensions_.assign(needs.extensions, needs.extensions + needs.extension_count);
  for (uint32_t index = 0; index < needs.wanted_count; ++index) {
    if (Offers(physical_, needs.wanted[index])) extensions_.push_back(needs.wanted[index]);
  }
  features_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features_.pNext = &features11_;
  features11_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features11_.pNext = &features12_;
  features12_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  atomics_.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  for (const char* extension : extensions_) {
    if (std::strcmp(extension, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME) == 0) features12_.pNext = &atomics_;
  }
  Check(adrt_vk_require_features(bundle, target_, &features_, &error), error, "adrt_vk_require_features");

  const float priority = 1;
  auto queue = Structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  auto info = Structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  info.pNext = &features_;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions_.size());
  info.ppEnabledExtensionNames = extensions_.data();
  Check(vkCreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, queue_family_, 0, &queue_);
}

adrt_vk_desc Device::Describe() const {
  adrt_vk_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.api_version = std::min(kVersion, properties_.apiVersion);
  desc.instance = instance_;
  desc.physical_device = physical_;
  desc.device = device_;
  desc.queue_family = queue_family_;
  desc.extension_count = static_cast<uint32_t>(extensions_.size());
  desc.extensions = extensions_.data();
  desc.features = &features_;
  desc.get_instance_proc_addr = reinterpret_cast<void (*)()>(&vkGetInstanceProcAddr);
  return desc;
}

adrt_device* Device::Wrap() const {
  adrt_host host = {};
  host.struct_size = sizeof host;
  adrt_vk_desc desc = Describe();
  adrt_device* device = nullptr;
  adrt_error error = {};
  error.struct_size = sizeof error;
  Check(adrt_device_wrap_vk(&host, &desc, &device, &error), error, "adrt_device_wrap_vk");
  return device;
}

Device::Buffer Device::MakeBuffer(uint64_t bytes) const {
  Buffer made;
  auto info = Structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  Check(vkCreateBuffer(device_, &info, nullptr, &buffer), "vkCreateBuffer");
  VkMemoryRequirements needs = {};
  vkGetBufferMemoryRequirements(device_, buffer, &needs);
  VkPhysicalDeviceMemoryProperties memory = {};
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  uint32_t type = 0;
  while (type < memory.memoryTypeCount && (!(needs.memoryTypeBits >> type & 1) ||
                                           (memory.memoryTypes[type].propertyFlags & wanted) != wanted)) {
    ++type;
  }
  auto flags = Structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  auto allocate = Structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.pNext = &flags;
  allocate.allocationSize = needs.size;
  allocate.memoryTypeIndex = type;
  Check(vkAllocateMemory(device_, &allocate, nullptr, &made.memory), "vkAllocateMemory");
  Check(vkBindBufferMemory(device_, buffer, made.memory, 0), "vkBindBufferMemory");
  Check(vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.mapped), "vkMapMemory");
  auto address = Structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
  address.buffer = buffer;
  made.place.struct_size = sizeof made.place;
  made.place.buffer = reinterpret_cast<uint64_t>(buffer);
  made.place.size = bytes;
  made.place.address = vkGetBufferDeviceAddress(device_, &address);
  return made;
}

void Device::Destroy(Buffer& buffer) const {
  vkDestroyBuffer(device_, buffer.handle(), nullptr);
  vkFreeMemory(device_, buffer.memory, nullptr);
  buffer = {};
}

VkCommandBuffer Device::Begin() {
  auto info = Structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  Check(vkBeginCommandBuffer(commands_, &info), "vkBeginCommandBuffer");
  return commands_;
}

void Device::Submit() {
  Check(vkEndCommandBuffer(commands_), "vkEndCommandBuffer");
  auto info = Structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands_;
  Check(vkQueueSubmit(queue_, 1, &info, fence_), "vkQueueSubmit");
  Check(vkWaitForFences(device_, 1, &fence_, VK_TRUE, UINT64_MAX), "vkWaitForFences");
  Check(vkResetFences(device_, 1, &fence_), "vkResetFences");
}

}  // namespace engine

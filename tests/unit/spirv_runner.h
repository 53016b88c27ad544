#pragma once
// Runs entries of SPIR-V modules on the first Vulkan device of this machine, by the contract of
// artifact/gpu_abi.h, for tests of the code alone: one buffer holds all memory, arguments are places in it.

#include <dlfcn.h>
#include <vulkan/vulkan.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "artifact/gpu_abi.h"
#include "codegen/common/code.h"

namespace adc::test {

/// One of Vulkan's structures, zero but for its type.
template <class Structure>
Structure Made(VkStructureType type) {
  Structure made{};
  made.sType = type;
  return made;
}

class VulkanRunner {
 public:
  static constexpr uint64_t kBytes = 64u << 20;

  /// The runner of this process; null where there is no device to run on.
  static VulkanRunner* Get() {
    static VulkanRunner runner;
    return runner.good_ ? &runner : nullptr;
  }

  /// Starts anew: nothing is taken, all memory is zero up to what was used.
  void Reset() {
    std::memset(memory_, 0, used_);
    used_ = 256;
  }
  /// Takes memory; the place of its first byte.
  uint64_t Take(uint64_t bytes) {
    uint64_t at = used_;
    used_ = (used_ + bytes + 511) & ~uint64_t{255};
    REQUIRE(used_ <= kBytes);
    return at;
  }
  unsigned char* At(uint64_t place) { return memory_ + place; }
  uint64_t AddressOf(uint64_t place) const { return address_ + place; }

  void LoadModule(const std::vector<uint32_t>& words) {
    Forget();
    VkShaderModuleCreateInfo info =
        Made<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    info.codeSize = words.size() * 4;
    info.pCode = words.data();
    Check(Call<PFN_vkCreateShaderModule>("vkCreateShaderModule")(device_, &info, nullptr, &module_));
  }

  struct Range {
    uint64_t place = 0, bytes = 0;
  };
  /// Runs one entry: `ranges` are the memory of its bindings, in order, `words` what it is called with.
  void Run(const std::string& symbol, const std::vector<Range>& ranges, const std::vector<uint64_t>& words,
           uint32_t blocks) {
    uint64_t words_at = Take(words.size() * 8);
    std::memcpy(At(words_at), words.data(), words.size() * 8);
    uint64_t constants = AddressOf(words_at);

    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (uint32_t n = 0; n < ranges.size(); ++n)
      bindings.push_back({n, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    VkDescriptorSetLayoutCreateInfo set_info =
        Made<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set_info.bindingCount = static_cast<uint32_t>(bindings.size());
    set_info.pBindings = bindings.data();
    VkDescriptorSetLayout set_layout{};
    Check(Call<PFN_vkCreateDescriptorSetLayout>("vkCreateDescriptorSetLayout")(device_, &set_info, nullptr,
                                                                               &set_layout));
    VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
    VkPipelineLayoutCreateInfo layout_info =
        Made<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    layout_info.pushConstantRangeCount = 1;
    layout_info.pPushConstantRanges = &range;
    VkPipelineLayout layout{};
    Check(
        Call<PFN_vkCreatePipelineLayout>("vkCreatePipelineLayout")(device_, &layout_info, nullptr, &layout));
    VkComputePipelineCreateInfo pipeline_info =
        Made<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    pipeline_info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    pipeline_info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    pipeline_info.stage.module = module_;
    pipeline_info.stage.pName = symbol.c_str();
    pipeline_info.layout = layout;
    VkSpecializationMapEntry is_llvmpipe{ADRT_VULKAN_LLVMPIPE, 0, sizeof(VkBool32)};
    VkSpecializationInfo specialized{1, &is_llvmpipe, sizeof is_llvmpipe_, &is_llvmpipe_};
    pipeline_info.stage.pSpecializationInfo = &specialized;
    VkPipeline pipeline{};
    Check(Call<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(device_, VK_NULL_HANDLE, 1,
                                                                         &pipeline_info, nullptr, &pipeline));
    VkDescriptorPool pool{};
    VkDescriptorSet set{};
    if (!ranges.empty()) {
      VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, static_cast<uint32_t>(ranges.size())};
      VkDescriptorPoolCreateInfo pool_info =
          Made<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
      pool_info.maxSets = 1;
      pool_info.poolSizeCount = 1;
      pool_info.pPoolSizes = &size;
      Check(Call<PFN_vkCreateDescriptorPool>("vkCreateDescriptorPool")(device_, &pool_info, nullptr, &pool));
      VkDescriptorSetAllocateInfo allocate =
          Made<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
      allocate.descriptorPool = pool;
      allocate.descriptorSetCount = 1;
      allocate.pSetLayouts = &set_layout;
      Check(Call<PFN_vkAllocateDescriptorSets>("vkAllocateDescriptorSets")(device_, &allocate, &set));
      std::vector<VkDescriptorBufferInfo> infos;
      for (const Range& r : ranges) infos.push_back({buffer_, r.place, r.bytes});
      std::vector<VkWriteDescriptorSet> writes;
      for (uint32_t n = 0; n < ranges.size(); ++n) {
        VkWriteDescriptorSet write = Made<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
        write.dstSet = set;
        write.dstBinding = n;
        write.descriptorCount = 1;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &infos[n];
        writes.push_back(write);
      }
      Call<PFN_vkUpdateDescriptorSets>("vkUpdateDescriptorSets")(
          device_, static_cast<uint32_t>(writes.size()), writes.data(), 0, nullptr);
    }
    VkCommandBufferBeginInfo begin =
        Made<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    Check(Call<PFN_vkBeginCommandBuffer>("vkBeginCommandBuffer")(commands_, &begin));
    Call<PFN_vkCmdBindPipeline>("vkCmdBindPipeline")(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    if (set != VK_NULL_HANDLE)
      Call<PFN_vkCmdBindDescriptorSets>("vkCmdBindDescriptorSets")(commands_, VK_PIPELINE_BIND_POINT_COMPUTE,
                                                                   layout, 0, 1, &set, 0, nullptr);
    Call<PFN_vkCmdPushConstants>("vkCmdPushConstants")(commands_, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 8,
                                                       &constants);
    Call<PFN_vkCmdDispatch>("vkCmdDispatch")(commands_, blocks, 1, 1);
    Check(Call<PFN_vkEndCommandBuffer>("vkEndCommandBuffer")(commands_));
    VkSubmitInfo submit = Made<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands_;
    Check(Call<PFN_vkQueueSubmit>("vkQueueSubmit")(queue_, 1, &submit, VK_NULL_HANDLE));
    Check(Call<PFN_vkQueueWaitIdle>("vkQueueWaitIdle")(queue_));
    Check(Call<PFN_vkResetCommandPool>("vkResetCommandPool")(device_, command_pool_, 0));
    Call<PFN_vkDestroyDescriptorPool>("vkDestroyDescriptorPool")(device_, pool, nullptr);
    Call<PFN_vkDestroyPipeline>("vkDestroyPipeline")(device_, pipeline, nullptr);
    Call<PFN_vkDestroyPipelineLayout>("vkDestroyPipelineLayout")(device_, layout, nullptr);
    Call<PFN_vkDestroyDescriptorSetLayout>("vkDestroyDescriptorSetLayout")(device_, set_layout, nullptr);
  }

  /// True where the device has every feature of the list; those of the f64 kind that it lacks are said.
  bool Has(const std::vector<std::string>& features) const {
    for (const std::string& feature : features) {
      if (feature == "shaderBufferFloat32AtomicAdd" && !atomic_float_.shaderBufferFloat32AtomicAdd)
        return false;
      if (feature == "shaderBufferFloat64AtomicAdd" && !atomic_float_.shaderBufferFloat64AtomicAdd)
        return false;
      if (feature == "shaderBufferInt64Atomics" && !features12_.shaderBufferInt64Atomics) return false;
    }
    return true;
  }

 private:
  VulkanRunner() { good_ = Open(); }

  template <class Function>
  Function Call(const char* name) {
    void*& known = functions_[name];
    if (known == nullptr) known = reinterpret_cast<void*>(proc_(instance_, name));
    return reinterpret_cast<Function>(known);
  }
  void Check(VkResult result) { REQUIRE(result == VK_SUCCESS); }
  void Forget() {
    if (module_ != VK_NULL_HANDLE)
      Call<PFN_vkDestroyShaderModule>("vkDestroyShaderModule")(device_, module_, nullptr);
    module_ = VK_NULL_HANDLE;
  }

  bool Open() {
    void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    proc_ = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
    VkApplicationInfo application = Made<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo instance_info = Made<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    instance_info.pApplicationInfo = &application;
    if (Call<PFN_vkCreateInstance>("vkCreateInstance")(&instance_info, nullptr, &instance_) != VK_SUCCESS)
      return false;
    functions_.clear();
    uint32_t count = 1;
    Call<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(instance_, &count, &physical_);
    if (count == 0 || physical_ == VK_NULL_HANDLE) return false;
    VkPhysicalDeviceProperties2 properties =
        Made<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
    VkPhysicalDeviceDriverProperties driver =
        Made<VkPhysicalDeviceDriverProperties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES);
    properties.pNext = &driver;
    Call<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2")(physical_, &properties);
    is_llvmpipe_ = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE ? VK_TRUE : VK_FALSE;
    features_.pNext = &features11_;
    features11_.pNext = &features12_;
    features12_.pNext = &features13_;
    features13_.pNext = &atomic_float_;
    Call<PFN_vkGetPhysicalDeviceFeatures2>("vkGetPhysicalDeviceFeatures2")(physical_, &features_);
    float priority = 1;
    VkDeviceQueueCreateInfo queue_info =
        Made<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue_info.queueCount = 1;
    queue_info.pQueuePriorities = &priority;
    const char* extensions[] = {"VK_EXT_shader_atomic_float"};
    VkDeviceCreateInfo device_info = Made<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    device_info.pNext = &features_;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue_info;
    device_info.enabledExtensionCount = 1;
    device_info.ppEnabledExtensionNames = extensions;
    if (Call<PFN_vkCreateDevice>("vkCreateDevice")(physical_, &device_info, nullptr, &device_) != VK_SUCCESS)
      return false;
    Call<PFN_vkGetDeviceQueue>("vkGetDeviceQueue")(device_, 0, 0, &queue_);
    VkCommandPoolCreateInfo pool_info =
        Made<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    Check(Call<PFN_vkCreateCommandPool>("vkCreateCommandPool")(device_, &pool_info, nullptr, &command_pool_));
    VkCommandBufferAllocateInfo commands_info =
        Made<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    commands_info.commandPool = command_pool_;
    commands_info.commandBufferCount = 1;
    Check(
        Call<PFN_vkAllocateCommandBuffers>("vkAllocateCommandBuffers")(device_, &commands_info, &commands_));
    return OpenMemory();
  }

  bool OpenMemory() {
    VkBufferCreateInfo buffer_info = Made<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    buffer_info.size = kBytes;
    buffer_info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
    Check(Call<PFN_vkCreateBuffer>("vkCreateBuffer")(device_, &buffer_info, nullptr, &buffer_));
    VkMemoryRequirements needs{};
    Call<PFN_vkGetBufferMemoryRequirements>("vkGetBufferMemoryRequirements")(device_, buffer_, &needs);
    VkPhysicalDeviceMemoryProperties properties{};
    Call<PFN_vkGetPhysicalDeviceMemoryProperties>("vkGetPhysicalDeviceMemoryProperties")(physical_,
                                                                                         &properties);
    VkMemoryAllocateFlagsInfo flags =
        Made<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryAllocateInfo allocate = Made<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.pNext = &flags;
    allocate.allocationSize = needs.size;
    VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t n = 0; n < properties.memoryTypeCount; ++n) {
      if ((needs.memoryTypeBits >> n & 1) == 0) continue;
      if ((properties.memoryTypes[n].propertyFlags & wanted) != wanted) continue;
      allocate.memoryTypeIndex = n;
      break;
    }
    VkDeviceMemory memory{};
    Check(Call<PFN_vkAllocateMemory>("vkAllocateMemory")(device_, &allocate, nullptr, &memory));
    Check(Call<PFN_vkBindBufferMemory>("vkBindBufferMemory")(device_, buffer_, memory, 0));
    void* mapped = nullptr;
    Check(Call<PFN_vkMapMemory>("vkMapMemory")(device_, memory, 0, kBytes, 0, &mapped));
    memory_ = static_cast<unsigned char*>(mapped);
    VkBufferDeviceAddressInfo address =
        Made<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
    address.buffer = buffer_;
    address_ = Call<PFN_vkGetBufferDeviceAddress>("vkGetBufferDeviceAddress")(device_, &address);
    used_ = 256;
    std::memset(memory_, 0, kBytes);
    return true;
  }

  bool good_ = false;
  PFN_vkGetInstanceProcAddr proc_ = nullptr;
  std::map<std::string, void*> functions_;
  VkInstance instance_{};
  VkPhysicalDevice physical_{};
  VkBool32 is_llvmpipe_ = VK_FALSE;
  VkDevice device_{};
  VkQueue queue_{};
  VkCommandPool command_pool_{};
  VkCommandBuffer commands_{};
  VkBuffer buffer_{};
  VkShaderModule module_{};
  VkPhysicalDeviceFeatures2 features_ =
      Made<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features features11_ =
      Made<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features features12_ =
      Made<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
  VkPhysicalDeviceVulkan13Features features13_ =
      Made<VkPhysicalDeviceVulkan13Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float_ =
      Made<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
  unsigned char* memory_ = nullptr;
  uint64_t address_ = 0;
  uint64_t used_ = 0;
};

}  // namespace adc::test

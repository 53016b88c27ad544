#include "vulkan_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

namespace shaders {

namespace {

void Check(VkResult result, const char* call) {
  if (result != VK_SUCCESS) Fail(std::string(call) + ": error " + std::to_string(result));
}

}  // namespace

void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

Device::Device() {
  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo instance_info = {};
  instance_info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  instance_info.pApplicationInfo = &application;
  Check(vkCreateInstance(&instance_info, nullptr, &instance_), "vkCreateInstance");
  uint32_t count = 1;
  VkResult listed = vkEnumeratePhysicalDevices(instance_, &count, &physical_);
  if ((listed != VK_SUCCESS && listed != VK_INCOMPLETE) || count == 0) Fail("no Vulkan device");
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical_, &properties);
  name_ = properties.deviceName;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  while (family_ < count && (families[family_].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++family_;
  if (family_ == count) Fail("the device has no queue that computes");
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  // Whatever the device has: a shader names what it takes.
  vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(physical_, nullptr, &count, extensions.data());
  const char* atomics = VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME;
  bool has_atomics = false;
  for (const VkExtensionProperties& extension : extensions)
    has_atomics = has_atomics || std::strcmp(extension.extensionName, atomics) == 0;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT float_atomics = {};
  float_atomics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
  VkPhysicalDeviceVulkan12Features features12 = {};
  features12.pNext = has_atomics ? &float_atomics : nullptr;
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceVulkan11Features features11 = {};
  features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features11.pNext = &features12;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features11;
  vkGetPhysicalDeviceFeatures2(physical_, &features);
  VkDeviceCreateInfo device_info = {};
  device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  device_info.pNext = &features;
  device_info.enabledExtensionCount = has_atomics ? 1 : 0;
  device_info.ppEnabledExtensionNames = &atomics;
  device_info.queueCreateInfoCount = 1;
  device_info.pQueueCreateInfos = &queue;
  Check(vkCreateDevice(physical_, &device_info, nullptr, &device_), "vkCreateDevice");
  vkGetDeviceQueue(device_, family_, 0, &queue_);
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = family_;
  Check(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
}

Device::~Device() {
  vkDestroyCommandPool(device_, pool_, nullptr);
  vkDestroyDevice(device_, nullptr);
  vkDestroyInstance(instance_, nullptr);
}

VkDeviceMemory Device::Allocate(const VkMemoryRequirements& needs, VkMemoryPropertyFlags wanted) const {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  uint32_t type = 0;
  while (type < memory.memoryTypeCount && ((needs.memoryTypeBits >> type & 1) == 0 ||
                                           (memory.memoryTypes[type].propertyFlags & wanted) != wanted))
    ++type;
  if (type == memory.memoryTypeCount) Fail("the device has no memory of a kind that is needed");
  VkMemoryAllocateInfo allocation = {};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.allocationSize = needs.size;
  allocation.memoryTypeIndex = type;
  VkDeviceMemory made = VK_NULL_HANDLE;
  Check(vkAllocateMemory(device_, &allocation, nullptr, &made), "vkAllocateMemory");
  return made;
}

Buffer Device::MakeBuffer(uint64_t bytes) const {
  Buffer buffer;
  buffer.bytes = bytes;
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  Check(vkCreateBuffer(device_, &info, nullptr, &buffer.handle), "vkCreateBuffer");
  VkMemoryRequirements needs;
  vkGetBufferMemoryRequirements(device_, buffer.handle, &needs);
  buffer.memory = Allocate(needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  Check(vkBindBufferMemory(device_, buffer.handle, buffer.memory, 0), "vkBindBufferMemory");
  Check(vkMapMemory(device_, buffer.memory, 0, VK_WHOLE_SIZE, 0, &buffer.mapped), "vkMapMemory");
  std::memset(buffer.mapped, 0, bytes);
  return buffer;
}

void Device::Destroy(Buffer& buffer) const {
  vkDestroyBuffer(device_, buffer.handle, nullptr);
  vkFreeMemory(device_, buffer.memory, nullptr);
  buffer = {};
}

Image Device::MakeImage(VkFormat format, uint32_t bytes_per_texel, VkExtent3D extent) const {
  Image image;
  image.extent = extent;
  image.texels = MakeBuffer(uint64_t{bytes_per_texel} * extent.width * extent.height * extent.depth);
  VkImageCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
  info.imageType = extent.depth > 1 ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D;
  info.format = format;
  info.extent = extent;
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
               VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  Check(vkCreateImage(device_, &info, nullptr, &image.handle), "vkCreateImage");
  VkMemoryRequirements needs;
  vkGetImageMemoryRequirements(device_, image.handle, &needs);
  image.memory = Allocate(needs, 0);
  Check(vkBindImageMemory(device_, image.handle, image.memory, 0), "vkBindImageMemory");
  VkImageViewCreateInfo view = {};
  view.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  view.image = image.handle;
  view.viewType = extent.depth > 1 ? VK_IMAGE_VIEW_TYPE_3D : VK_IMAGE_VIEW_TYPE_2D;
  view.format = format;
  view.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  Check(vkCreateImageView(device_, &view, nullptr, &image.view), "vkCreateImageView");
  VkSamplerCreateInfo sampler = {};
  sampler.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
  Check(vkCreateSampler(device_, &sampler, nullptr, &image.sampler), "vkCreateSampler");
  return image;
}

void Device::Destroy(Image& image) const {
  vkDestroySampler(device_, image.sampler, nullptr);
  vkDestroyImageView(device_, image.view, nullptr);
  vkDestroyImage(device_, image.handle, nullptr);
  vkFreeMemory(device_, image.memory, nullptr);
  Destroy(image.texels);
  image = {};
}

namespace {

/// Takes the texels of the images into them, or back into their buffers.
void CopyTexels(VkCommandBuffer commands, const Dispatch& dispatch, bool back) {
  for (const Descriptor& descriptor : dispatch.descriptors) {
    if (descriptor.image == nullptr) continue;
    const Image& image = *descriptor.image;
    VkImageMemoryBarrier barrier = {};
    barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
    barrier.oldLayout = back ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_UNDEFINED;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.srcAccessMask = back ? VK_ACCESS_SHADER_WRITE_BIT : 0;
    barrier.dstAccessMask = back ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image.handle;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(commands,
                         back ? VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, nullptr, 0, nullptr, 1, &barrier);
    VkBufferImageCopy copy = {};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = image.extent;
    if (back) {
      vkCmdCopyImageToBuffer(commands, image.handle, VK_IMAGE_LAYOUT_GENERAL, image.texels.handle, 1, &copy);
      continue;
    }
    vkCmdCopyBufferToImage(commands, image.texels.handle, image.handle, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
    barrier.oldLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  }
}

}  // namespace

void Device::Run(const Dispatch& dispatch) const {
  VkShaderModuleCreateInfo code = {};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = dispatch.code.size() * 4;
  code.pCode = dispatch.code.data();
  VkShaderModule module = VK_NULL_HANDLE;
  Check(vkCreateShaderModule(device_, &code, nullptr, &module), "vkCreateShaderModule");

  uint32_t sets = 0;
  for (const Descriptor& descriptor : dispatch.descriptors) sets = std::max(sets, descriptor.set + 1);
  std::vector<VkDescriptorSetLayout> set_layouts(sets);
  for (uint32_t set = 0; set < sets; ++set) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (const Descriptor& descriptor : dispatch.descriptors) {
      if (descriptor.set != set) continue;
      VkDescriptorSetLayoutBinding binding = {};
      binding.binding = descriptor.binding;
      binding.descriptorType = descriptor.type;
      binding.descriptorCount = 1;
      binding.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
      bindings.push_back(binding);
    }
    VkDescriptorSetLayoutCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    info.bindingCount = static_cast<uint32_t>(bindings.size());
    info.pBindings = bindings.data();
    Check(vkCreateDescriptorSetLayout(device_, &info, nullptr, &set_layouts[set]),
          "vkCreateDescriptorSetLayout");
  }
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               static_cast<uint32_t>((dispatch.push_constants.size() + 3) / 4 * 4)};
  VkPipelineLayoutCreateInfo layout_info = {};
  layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  layout_info.setLayoutCount = sets;
  layout_info.pSetLayouts = set_layouts.data();
  layout_info.pushConstantRangeCount = range.size == 0 ? 0 : 1;
  layout_info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  Check(vkCreatePipelineLayout(device_, &layout_info, nullptr, &layout), "vkCreatePipelineLayout");

  std::vector<VkSpecializationMapEntry> entries;
  std::vector<uint32_t> values;
  for (const auto& [number, value] : dispatch.specialization) {
    entries.push_back({number, static_cast<uint32_t>(4 * values.size()), 4});
    values.push_back(value);
  }
  VkSpecializationInfo specialization = {static_cast<uint32_t>(entries.size()), entries.data(),
                                         4 * values.size(), values.data()};
  VkComputePipelineCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = dispatch.entry.c_str();
  info.stage.pSpecializationInfo = entries.empty() ? nullptr : &specialization;
  info.layout = layout;
  VkPipeline pipeline = VK_NULL_HANDLE;
  Check(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline),
        "vkCreateComputePipelines");

  uint32_t many = static_cast<uint32_t>(dispatch.descriptors.size()) + 1;
  VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, many},
                                  {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, many},
                                  {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, many},
                                  {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, many}};
  VkDescriptorPoolCreateInfo pool_info = {};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = sets + 1;
  pool_info.poolSizeCount = 4;
  pool_info.pPoolSizes = sizes;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  Check(vkCreateDescriptorPool(device_, &pool_info, nullptr, &pool), "vkCreateDescriptorPool");
  std::vector<VkDescriptorSet> handles(sets);
  if (sets != 0) {
    VkDescriptorSetAllocateInfo allocation = {};
    allocation.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
    allocation.descriptorPool = pool;
    allocation.descriptorSetCount = sets;
    allocation.pSetLayouts = set_layouts.data();
    Check(vkAllocateDescriptorSets(device_, &allocation, handles.data()), "vkAllocateDescriptorSets");
  }
  for (const Descriptor& descriptor : dispatch.descriptors) {
    VkDescriptorBufferInfo buffer = {};
    VkDescriptorImageInfo image = {};
    if (descriptor.image != nullptr) {
      image = {descriptor.image->sampler, descriptor.image->view, VK_IMAGE_LAYOUT_GENERAL};
    } else {
      buffer = {descriptor.buffer->handle, 0, descriptor.buffer->bytes};
    }
    VkWriteDescriptorSet write = {};
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = handles[descriptor.set];
    write.dstBinding = descriptor.binding;
    write.descriptorCount = 1;
    write.descriptorType = descriptor.type;
    write.pBufferInfo = &buffer;
    write.pImageInfo = &image;
    vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
  }

  VkCommandBufferAllocateInfo command_info = {};
  command_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  command_info.commandPool = pool_;
  command_info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  command_info.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  Check(vkAllocateCommandBuffers(device_, &command_info, &commands), "vkAllocateCommandBuffers");
  VkCommandBufferBeginInfo begin = {};
  begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  Check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  CopyTexels(commands, dispatch, false);
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  if (sets != 0)
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, sets, handles.data(), 0,
                            nullptr);
  if (range.size != 0) {
    std::vector<uint8_t> push = dispatch.push_constants;
    push.resize(range.size);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, range.size, push.data());
  }
  vkCmdDispatch(commands, dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]);
  CopyTexels(commands, dispatch, true);
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  Check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
  VkSubmitInfo submit = {};
  submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  Check(vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit");
  Check(vkQueueWaitIdle(queue_), "vkQueueWaitIdle");

  vkFreeCommandBuffers(device_, pool_, 1, &commands);
  vkDestroyDescriptorPool(device_, pool, nullptr);
  vkDestroyPipeline(device_, pipeline, nullptr);
  vkDestroyPipelineLayout(device_, layout, nullptr);
  for (VkDescriptorSetLayout set : set_layouts) vkDestroyDescriptorSetLayout(device_, set, nullptr);
  vkDestroyShaderModule(device_, module, nullptr);
}

std::vector<uint32_t> ReadCode(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) Fail("cannot read " + path);
  auto bytes = static_cast<size_t>(file.tellg());
  std::vector<uint32_t> words(bytes / 4);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  return words;
}

}  // namespace shaders

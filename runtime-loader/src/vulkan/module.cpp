#include "vulkan/module.h"

#include "artifact/gpu_abi.h"
#include "core/code.h"
#include "core/host.h"
#include "vulkan/confine.h"

namespace adrt::vulkan {
namespace {

constexpr VkPushConstantRange kPushConstants = {VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(uint64_t)};

class Loader {
 public:
  Loader(adrt_module& module, Code& code, adrt_error* error)
      : module_(module), device_(Of(*module.device)), code_(code), error_(error) {}

  bool Run() {
    for (EntryWalk walk; NextEntry(module_, &walk);) {
      if (!CanMake(*walk.meta)) return false;
    }
    if (!MakeShaders() || !MakeLayout(VK_NULL_HANDLE, &code_.far_layout)) return false;
    if (!code_.entries.TryResize(module_.entries.size())) return OutOfMemory(error_) == ADRT_OK;
    for (EntryWalk walk; NextEntry(module_, &walk);) {
      if (!MakeEntry(*walk.meta, code_.entries[walk.slot])) return false;
      module_.entries[walk.slot] = &code_.entries[walk.slot];
    }
    if (device_.lazy) return true;
    device_.api.DestroyShaderModule(device_.handle, code_.shaders, device_.callbacks);
    code_.shaders = VK_NULL_HANDLE;
    return true;
  }

 private:
  bool Lacks(const artifact::EntryMeta& entry, const char* what, uint64_t wanted, uint64_t limit) {
    return Refuse(error_, ADRT_ERROR_DEVICE_FEATURE, "'", entry.symbol.view(), "' takes ", wanted, what,
                  ", the device has at most ", limit);
  }

  /// Unverified code.
  bool MakeConfined(Vector<uint32_t>* words) {
    if (!device_.robust) {
      return Refuse(error_, ADRT_ERROR_UNTRUSTED,
                    "this bundle's code is unverified, and the device was made without "
                    "'robustBufferAccess', which would confine it: make it with that, or trust the bundle");
    }
    if (!Confine(module_, words, error_)) return false;
    if (!device_.check_spirv || device_.check_spirv(device_.check_user, words->data(), words->size())) {
      return true;
    }
    return Refuse(error_, ADRT_ERROR_UNTRUSTED,
                  "this bundle's code is unverified, and check_spirv refused it");
  }

  bool MakeShaders() {
    Vector<uint8_t> bytes(&module_.host.allocator);
    Vector<uint32_t> words(&module_.host.allocator);
    uint32_t section = 0;
    if (!ReadCode(module_, &bytes, &section, error_)) return false;
    if (!words.TryResize(bytes.size() / sizeof(uint32_t))) return OutOfMemory(error_) == ADRT_OK;
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
    if (module_.confined && !MakeConfined(&words)) return false;
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = words.size() * sizeof(uint32_t);
    info.pCode = words.data();
    VkResult result =
        device_.api.CreateShaderModule(device_.handle, &info, device_.callbacks, &code_.shaders);
    if (result == VK_SUCCESS) {
      Name(device_, VK_OBJECT_TYPE_SHADER_MODULE, code_.shaders, "adrt code");
      return true;
    }
    code_.shaders = VK_NULL_HANDLE;
    return DriverFailed(error_, "vkCreateShaderModule", result);
  }

  bool MakeLayout(VkDescriptorSetLayout set, VkPipelineLayout* layout) {
    VkPipelineLayoutCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    info.setLayoutCount = set ? 1 : 0;
    info.pSetLayouts = &set;
    info.pushConstantRangeCount = 1;
    info.pPushConstantRanges = &kPushConstants;
    VkResult result = device_.api.CreatePipelineLayout(device_.handle, &info, device_.callbacks, layout);
    if (result == VK_SUCCESS) return true;
    *layout = VK_NULL_HANDLE;
    return DriverFailed(error_, "vkCreatePipelineLayout", result);
  }

  bool MakeSetLayout(const artifact::EntryMeta& meta, bool pushes, VkDescriptorSetLayout* layout) {
    Vector<VkDescriptorSetLayoutBinding> bindings(&module_.host.allocator);
    if (!bindings.TryResize(meta.bindings.size())) return OutOfMemory(error_) == ADRT_OK;
    for (size_t index = 0; index < bindings.size(); ++index) {
      bindings[index].binding = meta.bindings[index].number;
      bindings[index].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      bindings[index].descriptorCount = 1;
      bindings[index].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    VkDescriptorSetLayoutCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    if (pushes) info.flags = VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR;
    info.bindingCount = static_cast<uint32_t>(bindings.size());
    info.pBindings = bindings.data();
    VkResult result = device_.api.CreateDescriptorSetLayout(device_.handle, &info, device_.callbacks, layout);
    if (result == VK_SUCCESS) return true;
    *layout = VK_NULL_HANDLE;
    return DriverFailed(error_, "vkCreateDescriptorSetLayout", result);
  }

  /// Whether the device has what the entry takes; before anything is made.
  bool CanMake(const artifact::EntryMeta& meta) {
    const Limits& limits = device_.limits;
    if (meta.block_size > limits.group_size) {
      return Lacks(meta, " threads in a block", meta.block_size, limits.group_size);
    }
    if (meta.shared_bytes > limits.shared_bytes) {
      return Lacks(meta, " bytes of shared memory", meta.shared_bytes, limits.shared_bytes);
    }
    uint32_t most = limits.storage_count < kMostDescriptors ? limits.storage_count : kMostDescriptors;
    if (!meta.far_symbol.empty() || meta.bindings.size() <= most) return true;
    if (limits.storage_count >= kMostDescriptors) {
      return Refuse(error_, ADRT_ERROR_DEVICE_FEATURE, "'", meta.symbol.view(), "' takes ",
                    uint64_t{meta.bindings.size()}, " storage buffers, more than the ", kMostDescriptors,
                    " of a launch without device addresses");
    }
    return Lacks(meta, " storage buffers", meta.bindings.size(), limits.storage_count);
  }

  bool MakeEntry(const artifact::EntryMeta& meta, Entry& entry) {
    size_t count = meta.bindings.size();
    bool has_far = !meta.far_symbol.empty();
    entry.pushes = Pushes(count);
    bool has_near = entry.pushes || !has_far;
    entry.far_layout = code_.far_layout;
    entry.meta = &meta;
    entry.code = &code_;
    entry.has_far = has_far;
    entry.has_near = has_near;
    // Without bindings there is nothing to push, and the layout is that of far entries.
    if (has_near && count > 0 &&
        (!MakeSetLayout(meta, entry.pushes, &entry.set_layout) ||
         !MakeLayout(entry.set_layout, &entry.near_layout))) {
      return false;
    }
    if (device_.lazy) return true;
    return (!has_far || PipelineOf(device_, entry, false, error_)) &&
           (!has_near || PipelineOf(device_, entry, true, error_));
  }

  bool Pushes(size_t count) const {
    return count == 0 || (device_.api.CmdPushDescriptorSetKHR && count <= device_.limits.push_count &&
                          count <= device_.limits.storage_count && count <= kMostDescriptors);
  }

  adrt_module& module_;
  Device& device_;
  Code& code_;
  adrt_error* error_;
};

void Destroy(Device& device, Code* code, const artifact::Allocator& allocator) {
  for (Entry& entry : code->entries) {
    if (entry.near) device.api.DestroyPipeline(device.handle, entry.near, device.callbacks);
    if (entry.far) device.api.DestroyPipeline(device.handle, entry.far, device.callbacks);
    if (entry.near_layout)
      device.api.DestroyPipelineLayout(device.handle, entry.near_layout, device.callbacks);
    if (entry.set_layout)
      device.api.DestroyDescriptorSetLayout(device.handle, entry.set_layout, device.callbacks);
  }
  if (code->far_layout) device.api.DestroyPipelineLayout(device.handle, code->far_layout, device.callbacks);
  if (code->shaders) device.api.DestroyShaderModule(device.handle, code->shaders, device.callbacks);
  Delete(allocator, code);
}

}  // namespace

bool Load(adrt_module& module, adrt_error* error) {
  Code* code = New<Code>(module.host.allocator, &module.host.allocator);
  if (!code) return OutOfMemory(error) == ADRT_OK;
  if (!Loader(module, *code, error).Run()) {
    Destroy(Of(*module.device), code, module.host.allocator);
    return false;
  }
  module.code = code;
  return true;
}

void Unload(adrt_module& module) {
  if (module.code) Destroy(Of(*module.device), static_cast<Code*>(module.code), module.host.allocator);
}

}  // namespace adrt::vulkan

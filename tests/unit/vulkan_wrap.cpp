#include <algorithm>

#include "vulkan_wrapped.h"

// Devices of the caller: what they must have enabled, what the loader does with them and what it leaves
// alone.

using namespace fixture;

namespace {

adrt_vk_buffer PartOf(const adrt_memory* memory, uint64_t from = 0) {
  adrt_vk_buffer buffer = *static_cast<const adrt_vk_buffer*>(adrt_memory_data(memory));
  buffer.offset += from;
  buffer.address += from;
  buffer.size -= from;
  return buffer;
}

}  // namespace

TEST_CASE("what a target asks of a device is listed and turned on", "[vulkan]") {
  Wrapped wrapped;
  adrt_vk_requirements needs = {};
  needs.struct_size = sizeof needs;
  wrapped.Must(adrt_vk_required_extensions(wrapped.bundle, 0, &needs, &wrapped.error));
  CHECK(needs.api_version == VK_API_VERSION_1_2);
  CHECK(needs.extension_count == 0);
  CHECK(needs.wanted_count == 2);
  CHECK(needs.feature_count == 3);
  CHECK(std::string(needs.features[0]) == "bufferDeviceAddress");

  VkPhysicalDeviceVulkan12Features vulkan12 = {};
  vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.features.robustBufferAccess = VK_TRUE;
  CHECK(adrt_vk_require_features(wrapped.bundle, 0, &features, &wrapped.error) == ADRT_ERROR_DEVICE_FEATURE);
  CHECK(wrapped.error.Says("bufferDeviceAddress"));
  features.pNext = &vulkan12;
  wrapped.Must(adrt_vk_require_features(wrapped.bundle, 0, &features, &wrapped.error));
  CHECK(vulkan12.bufferDeviceAddress == VK_TRUE);
  CHECK(features.features.shaderInt64 == VK_TRUE);
  CHECK(features.features.shaderFloat64 == VK_TRUE);
  CHECK(features.features.robustBufferAccess == VK_TRUE);
  CHECK(features.features.shaderInt16 == VK_FALSE);
  CHECK(vulkan12.shaderFloat16 == VK_FALSE);

  CHECK(adrt_vk_required_extensions(wrapped.bundle, 1, &needs, &wrapped.error) == ADRT_ERROR_ARGUMENT);
  CHECK(wrapped.error.Says("no target 1"));
}

TEST_CASE("extensions and unknown names among the features of a target", "[vulkan]") {
  adc::artifact::Metadata metadata = MakeVulkanMetadata();
  adrt_host host = TrustingHost();
  for (const char* name : {"shaderBufferFloat32AtomicAdd", "shaderTimeTravel"}) {
    std::vector<adc::artifact::String> names = {"bufferDeviceAddress", "shaderFloat64", "shaderInt64", name};
    std::sort(names.begin(), names.end(),
              [](const auto& left, const auto& right) { return left.view() < right.view(); });
    metadata.targets[0].features.Assign(names.data(), names.data() + names.size());
    std::vector<uint8_t> file = MakeVulkanBundle(metadata, ReadSpirv());
    adrt_bundle* bundle = nullptr;
    ErrorBox error;
    REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) == ADRT_OK);
    adrt_vk_requirements needs = {};
    needs.struct_size = sizeof needs;
    adrt_status status = adrt_vk_required_extensions(bundle, 0, &needs, &error);
    if (std::string(name) == "shaderTimeTravel") {
      CHECK(status == ADRT_ERROR_UNSUPPORTED);
      CHECK(error.Says("shaderTimeTravel"));
    } else {
      REQUIRE(status == ADRT_OK);
      REQUIRE(needs.extension_count == 1);
      CHECK(std::string(needs.extensions[0]) == VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
    }
    adrt_bundle_release(bundle);
  }
}

TEST_CASE("a device that was made without a feature is refused by its name", "[vulkan]") {
  Wrapped wrapped;
  wrapped.features.features.shaderFloat64 = VK_FALSE;
  wrapped.Must(wrapped.Wrap());
  CHECK(adrt_module_load(wrapped.device, wrapped.bundle, &wrapped.module, &wrapped.error) ==
        ADRT_ERROR_NO_TARGET);
  CHECK(wrapped.error.Says("made without 'shaderFloat64'"));
  adrt_target_report report = {};
  report.struct_size = sizeof report;
  uint32_t count = 0;
  wrapped.Must(adrt_bundle_query_targets(wrapped.bundle, wrapped.device, &report, 1, &count, &wrapped.error));
  CHECK(report.verdict == ADRT_TARGET_REFUSED);
  CHECK(std::string(report.reason).find("shaderFloat64") != std::string::npos);
}

TEST_CASE("a physical device is made for the best code that it can run", "[vulkan]") {
  struct Row {
    bool atomic_float;
    uint32_t driver, used;  // versions of Vulkan
    const char* target;
  };
  constexpr uint32_t k12 = VK_API_VERSION_1_2, k13 = VK_API_VERSION_1_3;
  for (const Row& row : {Row{true, k13, k13, "vulkan:1.3"}, Row{false, k13, k13, "vulkan:1.2"},
                         Row{true, k13, k12, "vulkan:1.2"}, Row{true, k12, k13, "vulkan:1.2"}}) {
    Wrapped wrapped;
    wrapped.driver.atomic_float = row.atomic_float;
    wrapped.driver.version = row.driver;
    adrt_bundle_release(wrapped.bundle);
    wrapped.bundle = nullptr;
    adrt_host host = wrapped.log.Host();
    std::vector<uint8_t> file = MakeVulkanBundleOfTwo();
    wrapped.Must(
        adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &wrapped.bundle, &wrapped.error));
    adrt_vk_desc asked = {};
    asked.struct_size = sizeof asked;
    asked.api_version = row.used;
    asked.instance = wrapped.driver.instance;
    asked.physical_device = wrapped.driver.physical;
    asked.get_instance_proc_addr = FakeVulkan::EntryPoint();
    uint32_t target = 77;
    wrapped.Must(adrt_vk_choose_target(wrapped.bundle, &asked, &target, &wrapped.error));
    adrt_target_info info = {};
    info.struct_size = sizeof info;
    wrapped.Must(adrt_bundle_target(wrapped.bundle, target, &info, &wrapped.error));
    CHECK(info.name == std::string(row.target));
    CHECK(wrapped.driver.live == 0);
    // A device that is made as the target asks loads it.
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics = {};
    atomics.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
    wrapped.address_features.pNext = &atomics;
    wrapped.Must(adrt_vk_require_features(wrapped.bundle, target, &wrapped.features, &wrapped.error));
    CHECK(bool(atomics.shaderBufferFloat32AtomicAdd) == (info.name == std::string("vulkan:1.3")));
    wrapped.desc.api_version = row.used;
    wrapped.Open();
    CHECK(adrt_module_target(wrapped.module) == target);
  }
}

TEST_CASE("choosing a target says why there is none, and what is missing", "[vulkan]") {
  Wrapped wrapped;
  wrapped.driver.shader_float64 = false;
  uint32_t target = 77;
  CHECK(adrt_vk_choose_target(wrapped.bundle, &wrapped.desc, &target, &wrapped.error) ==
        ADRT_ERROR_NO_TARGET);
  CHECK(wrapped.error.Says("vulkan:1.2: the device has no 'shaderFloat64'"));
  wrapped.driver.version = VK_API_VERSION_1_1;
  CHECK(adrt_vk_choose_target(wrapped.bundle, &wrapped.desc, &target, &wrapped.error) ==
        ADRT_ERROR_DEVICE_FEATURE);
  CHECK(wrapped.error.Says("older than Vulkan 1.2"));
  adrt_vk_desc desc = wrapped.desc;
  desc.physical_device = nullptr;
  CHECK(adrt_vk_choose_target(wrapped.bundle, &desc, &target, &wrapped.error) == ADRT_ERROR_ARGUMENT);
  CHECK(wrapped.error.Says("needs instance"));
  desc = wrapped.desc;
  desc.struct_size = 0;
  CHECK(adrt_vk_choose_target(wrapped.bundle, &desc, &target, &wrapped.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_vk_choose_target(nullptr, &wrapped.desc, &target, &wrapped.error) == ADRT_ERROR_ARGUMENT);
  wrapped.driver.version = VK_API_VERSION_1_3;
  wrapped.driver.missing = "vkGetPhysicalDeviceFeatures2";
  CHECK(adrt_vk_choose_target(wrapped.bundle, &wrapped.desc, &target, &wrapped.error) == ADRT_ERROR_DRIVER);
  wrapped.driver.missing.clear();
  wrapped.driver.fail_at = wrapped.driver.calls + 1;
  CHECK(adrt_vk_choose_target(wrapped.bundle, &wrapped.desc, &target, &wrapped.error) == ADRT_ERROR_DRIVER);
  CHECK(target == 77);
}

TEST_CASE("a descriptor that says too little is refused", "[vulkan]") {
  Wrapped wrapped;
  struct Spoil {
    const char* says;
    void (*spoil)(adrt_vk_desc& desc);
  };
  const Spoil kSpoils[] = {
      {"struct_size", [](adrt_vk_desc& desc) { desc.struct_size = 0; }},
      {"needs instance", [](adrt_vk_desc& desc) { desc.instance = nullptr; }},
      {"needs instance", [](adrt_vk_desc& desc) { desc.device = nullptr; }},
      {"needs instance", [](adrt_vk_desc& desc) { desc.get_instance_proc_addr = nullptr; }},
      {"go together", [](adrt_vk_desc& desc) { desc.lock_queue = [](void*) {}; }},
      {"needs Vulkan 1.2", [](adrt_vk_desc& desc) { desc.api_version = VK_API_VERSION_1_1; }},
  };
  for (const Spoil& one : kSpoils) {
    adrt_vk_desc desc = wrapped.desc;
    one.spoil(desc);
    adrt_device* device = nullptr;
    CHECK(adrt_device_wrap_vk(nullptr, &desc, &device, &wrapped.error) != ADRT_OK);
    INFO(wrapped.error.text);
    CHECK(wrapped.error.Says(one.says));
    CHECK(device == nullptr);
  }
  CHECK(wrapped.driver.functions.empty());
}

TEST_CASE("words are written in as many updates as it takes", "[vulkan]") {
  constexpr size_t kNumbers = 8190;  // with two buffers, a scalar and the launch's own: 8,199 words
  adc::artifact::Metadata metadata = MakeVulkanMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "saxpy") continue;
    for (size_t n = 0; n < kNumbers; ++n) {
      adc::artifact::ParamMeta param;
      param.name = std::string_view("n" + std::to_string(n));
      param.kind = adc::artifact::ParamKind::kScalar;
      param.type = adc::artifact::ScalarType::kU64;
      param.access = adc::artifact::Access::kRead;
      kernel.params.push_back(param);
    }
  }
  FinishMetadata(&metadata);
  Wrapped wrapped(MakeVulkanBundle(metadata, ReadSpirv()));
  wrapped.Open();
  adrt_memory *x = nullptr, *heap = nullptr, *status = nullptr;
  wrapped.Must(adrt_memory_create(wrapped.device, 4096, &x, &wrapped.error));
  wrapped.Must(adrt_memory_create(wrapped.device, 1 << 17, &heap, &wrapped.error));
  wrapped.Must(adrt_memory_create(wrapped.device, ADRT_STATUS_BYTES, &status, &wrapped.error));
  adrt_vk_buffer y = PartOf(x, 2048);
  float a = 1;
  std::vector<uint64_t> numbers(kNumbers, 7);
  std::vector<std::string> names(kNumbers);
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {300}),
                                BufferArg("y", ADRT_TYPE_F32, &y, {300}), ScalarArg("a", ADRT_TYPE_F32, &a)};
  for (size_t n = 0; n < kNumbers; ++n) {
    names[n] = "n" + std::to_string(n);
    args.push_back(ScalarArg(names[n].c_str(), ADRT_TYPE_U64, &numbers[n]));
  }
  adrt_launch_plan* plan = wrapped.Plan("saxpy", args);
  adrt_vk_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.heap = static_cast<const adrt_vk_buffer*>(adrt_memory_data(heap));
  launch.status = static_cast<const adrt_vk_buffer*>(adrt_memory_data(status));
  wrapped.driver.commands.clear();
  wrapped.Must(adrt_record_vk(plan, reinterpret_cast<VkCommandBuffer>(&wrapped), &launch, &wrapped.error));
  std::vector<std::string> updates;
  for (const std::string& command : wrapped.driver.commands) {
    if (command.starts_with("vkCmdUpdateBuffer")) updates.push_back(command);
  }
  CHECK(updates == std::vector<std::string>{"vkCmdUpdateBuffer 65536", "vkCmdUpdateBuffer 56"});
  adrt_plan_release(plan);
  for (adrt_memory* memory : {x, heap, status}) adrt_memory_release(memory);
}

TEST_CASE("wrapping makes nothing, and recording neither submits nor allocates", "[vulkan]") {
  Wrapped wrapped;
  wrapped.driver.version = VK_API_VERSION_1_2;
  wrapped.Must(wrapped.Wrap());
  CHECK(wrapped.driver.live == 0);
  CHECK(wrapped.driver.calls == 0);
  wrapped.Must(adrt_module_load(wrapped.device, wrapped.bundle, &wrapped.module, &wrapped.error));
  // Six entries, each near and far.
  CHECK(std::count(wrapped.driver.functions.begin(), wrapped.driver.functions.end(),
                   "vkCreateComputePipelines") == 12);

  adrt_memory *x = nullptr, *heap = nullptr, *status = nullptr;
  wrapped.Must(adrt_memory_create(wrapped.device, 4096, &x, &wrapped.error));
  wrapped.Must(adrt_memory_create(wrapped.device, ADRT_STATUS_BYTES, &status, &wrapped.error));
  adrt_launch_plan* plan = wrapped.Plan("mean", {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {300}),
                                                 BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(x), {0})});
  adrt_plan_release(plan);
  adrt_vk_buffer y = PartOf(x, 2048);
  plan = wrapped.Plan("mean", {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {300}),
                               BufferArg("y", ADRT_TYPE_F32, &y, {500})});
  adrt_plan_report info = {};
  info.struct_size = sizeof info;
  wrapped.Must(adrt_plan_info(plan, &info, &wrapped.error));
  wrapped.Must(adrt_memory_create(wrapped.device, info.heap_bytes, &heap, &wrapped.error));
  adrt_vk_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.heap = static_cast<const adrt_vk_buffer*>(adrt_memory_data(heap));
  launch.status = static_cast<const adrt_vk_buffer*>(adrt_memory_data(status));
  wrapped.driver.functions.clear();
  wrapped.driver.commands.clear();
  VkCommandBuffer commands = reinterpret_cast<VkCommandBuffer>(&wrapped);
  wrapped.Must(adrt_record_vk(plan, commands, &launch, &wrapped.error));
  const std::vector<std::string> kExpected = {
      "vkCmdPipelineBarrier",         // against what came before
      "vkCmdFillBuffer 64",           // status
      "vkCmdFillBuffer 4",            // scratch
      "vkCmdPipelineBarrier",         //
      "vkCmdUpdateBuffer 80",         // 10 words
      "vkCmdPipelineBarrier",         //
      "vkCmdBindPipeline",            //
      "vkCmdPushConstants 8",         //
      "vkCmdPushDescriptorSetKHR 1",  //
      "vkCmdDispatch 1",              // the serial task
      "vkCmdPipelineBarrier",         //
      "vkCmdPipelineBarrier",         //
      "vkCmdUpdateBuffer 80",         //
      "vkCmdPipelineBarrier",         //
      "vkCmdBindPipeline",            //
      "vkCmdPushConstants 8",         //
      "vkCmdPushDescriptorSetKHR 1",  //
      "vkCmdDispatch 8",              // 500 iterations, 64 in a block
      "vkCmdPipelineBarrier",         //
      "vkCmdPipelineBarrier",         // for what comes after
  };
  CHECK(wrapped.driver.commands == kExpected);
  // Beside the commands it looks whether heap and status block lie where they are said to.
  auto looks = [&] {
    return std::count(wrapped.driver.functions.begin(), wrapped.driver.functions.end(),
                      "vkGetBufferDeviceAddress");
  };
  CHECK(looks() == 2);
  CHECK(wrapped.driver.functions.size() == kExpected.size() + 2);

  wrapped.driver.functions.clear();
  launch.status = nullptr;
  CHECK(adrt_record_vk(plan, commands, &launch, &wrapped.error) == ADRT_ERROR_ARGUMENT);
  CHECK(wrapped.error.Says("status"));
  launch.status = static_cast<const adrt_vk_buffer*>(adrt_memory_data(status));
  launch.heap = nullptr;
  CHECK(adrt_record_vk(plan, commands, &launch, &wrapped.error) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(wrapped.error.needed_bytes == info.heap_bytes);
  // What is refused leaves nothing in the command buffer.
  CHECK(wrapped.driver.functions.size() == static_cast<size_t>(looks()));
  adrt_plan_release(plan);
  adrt_memory_release(x);
  adrt_memory_release(heap);
  adrt_memory_release(status);
}

TEST_CASE("buffers that no descriptor reaches go the far way", "[vulkan]") {
  struct Way {
    bool declared;
    uint64_t from;
    uint64_t storage_range;
    bool near;
  };
  for (Way way : {Way{true, 0, 1u << 20, true}, Way{true, 16, 1u << 20, true}, Way{true, 8, 1u << 20, false},
                  Way{true, 0, 1024, true}, Way{true, 0, 1023, false}, Way{false, 0, 1u << 20, false}}) {
    Wrapped wrapped;
    wrapped.driver.storage_range = way.storage_range;
    if (!way.declared) wrapped.extensions.clear();
    wrapped.Open();
    adrt_memory* memory = nullptr;
    wrapped.Must(adrt_memory_create(wrapped.device, 8192, &memory, &wrapped.error));
    adrt_vk_buffer x = PartOf(memory, way.from), y = PartOf(memory, 4096);
    float a = 1;
    adrt_launch_plan* plan =
        wrapped.Plan("saxpy", {BufferArg("x", ADRT_TYPE_F32, &x, {256}),
                               BufferArg("y", ADRT_TYPE_F32, &y, {256}), ScalarArg("a", ADRT_TYPE_F32, &a)});
    wrapped.Must(adrt_run(plan, nullptr, &wrapped.error));
    CHECK(wrapped.driver.Recorded("vkCmdPushDescriptorSetKHR 2") == way.near);
    CHECK(wrapped.driver.Recorded("vkCmdDispatch 4"));
    adrt_plan_release(plan);
    adrt_memory_release(memory);
  }
}

TEST_CASE("a dispatch has no more blocks than the device takes", "[vulkan]") {
  Wrapped wrapped;
  wrapped.driver.group_count = 3;
  wrapped.Open();
  adrt_memory* memory = nullptr;
  wrapped.Must(adrt_memory_create(wrapped.device, 8192, &memory, &wrapped.error));
  adrt_launch_plan* plan =
      wrapped.Plan("stop", {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(memory), {2048})});
  wrapped.Must(adrt_run(plan, nullptr, &wrapped.error));
  CHECK(wrapped.driver.Recorded("vkCmdDispatch 3"));
  adrt_plan_release(plan);
  adrt_memory_release(memory);
}

TEST_CASE("submissions lie inside the caller's lock, and without a queue there are none", "[vulkan]") {
  Wrapped wrapped;
  struct Seen {
    FakeVulkan* driver;
    long locks = 0, held = 0;
  } seen{&wrapped.driver};
  wrapped.desc.user = &seen;
  wrapped.desc.lock_queue = [](void* user) {
    Seen& own = *static_cast<Seen*>(user);
    own.driver->functions.clear();
    ++own.locks;
    ++own.held;
  };
  wrapped.desc.unlock_queue = [](void* user) {
    Seen& own = *static_cast<Seen*>(user);
    CHECK(own.driver->functions == std::vector<std::string>{"vkQueueSubmit"});
    --own.held;
  };
  wrapped.Open();
  adrt_memory* memory = nullptr;
  wrapped.Must(adrt_memory_create(wrapped.device, 8192, &memory, &wrapped.error));
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(memory), {2048})};
  adrt_launch_plan* plan = wrapped.Plan("stop", args);
  wrapped.Must(adrt_run(plan, nullptr, &wrapped.error));
  CHECK(seen.locks == 1);
  CHECK(seen.held == 0);
  adrt_plan_release(plan);
  adrt_memory_release(memory);
  wrapped.Close();

  wrapped.desc.queue = nullptr;
  wrapped.Open();
  wrapped.Must(adrt_memory_create(wrapped.device, 8192, &memory, &wrapped.error));
  args[0].data = adrt_memory_data(memory);
  plan = wrapped.Plan("stop", args);
  CHECK(adrt_run(plan, nullptr, &wrapped.error) == ADRT_ERROR_ARGUMENT);
  CHECK(wrapped.error.Says("without a queue"));
  adrt_plan_release(plan);
  adrt_memory_release(memory);
}

TEST_CASE("memory that the host does not see goes through staging, in pieces", "[vulkan]") {
  Wrapped wrapped;
  wrapped.driver.discrete = true;
  wrapped.Open();
  constexpr size_t kBytes = (40u << 20) + 5;
  adrt_memory* memory = nullptr;
  wrapped.Must(adrt_memory_create(wrapped.device, kBytes + 3, &memory, &wrapped.error));
  std::vector<uint8_t> from(kBytes), to(kBytes);
  for (size_t index = 0; index < kBytes; ++index) from[index] = static_cast<uint8_t>(index * 7 + index / 251);
  wrapped.Must(adrt_memory_write(memory, 3, from.data(), kBytes, &wrapped.error));
  CHECK(wrapped.driver.Recorded("vkCmdCopyBuffer 16777216"));
  CHECK(wrapped.driver.Recorded("vkCmdCopyBuffer 8388613"));
  wrapped.Must(adrt_memory_read(memory, 3, to.data(), kBytes, &wrapped.error));
  CHECK(from == to);
  adrt_memory_release(memory);
}

TEST_CASE("memory that does not fit says what was asked for and what would fit", "[vulkan]") {
  for (bool budget : {false, true}) {
    Wrapped wrapped;
    wrapped.driver.discrete = wrapped.driver.budget = budget;
    if (budget) wrapped.extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    wrapped.Must(wrapped.Wrap());
    adrt_memory* memory = nullptr;
    uint64_t bytes = uint64_t{1} << 30;
    CHECK(adrt_memory_create(wrapped.device, bytes, &memory, &wrapped.error) ==
          ADRT_ERROR_OUT_OF_DEVICE_MEMORY);
    INFO(wrapped.error.text);
    CHECK(wrapped.error.Says("1073741824 bytes"));
    CHECK(wrapped.error.Says(budget ? "1048576 bytes are free" : "268435456 bytes is the most"));
    CHECK(adrt_memory_create(wrapped.device, uint64_t{1} << 62, &memory, &wrapped.error) ==
          ADRT_ERROR_OUT_OF_DEVICE_MEMORY);
  }
}

TEST_CASE("an argument that is no buffer is refused", "[vulkan]") {
  Wrapped wrapped;
  wrapped.Open();
  adrt_memory* memory = nullptr;
  wrapped.Must(adrt_memory_create(wrapped.device, 4096, &memory, &wrapped.error));
  struct Spoil {
    const char* says;
    void (*spoil)(adrt_vk_buffer& buffer);
  };
  const Spoil kSpoils[] = {
      {"struct_size", [](adrt_vk_buffer& buffer) { buffer.struct_size = 0; }},
      {"without buffer", [](adrt_vk_buffer& buffer) { buffer.buffer = 0; }},
      {"without address", [](adrt_vk_buffer& buffer) { buffer.address = 0; }},
      {"gives", [](adrt_vk_buffer& buffer) { buffer.address += 16; }},
      {"at the offset 256", [](adrt_vk_buffer& buffer) { buffer.offset += 256; }},
      {"4096 bytes", [](adrt_vk_buffer& buffer) { buffer.size = 4095; }},
  };
  for (const Spoil& one : kSpoils) {
    adrt_vk_buffer buffer = PartOf(memory);
    one.spoil(buffer);
    adrt_arg arg = BufferArg("x", ADRT_TYPE_F32, &buffer, {1024});
    const adrt_kernel* kernel = nullptr;
    wrapped.Must(adrt_bundle_find_kernel(wrapped.bundle, "stop", 0, &kernel, &wrapped.error));
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = &arg;
    desc.arg_count = 1;
    desc.module = wrapped.module;
    adrt_launch_plan* plan = nullptr;
    CHECK(adrt_plan(kernel, &desc, &plan, &wrapped.error) == ADRT_ERROR_ARGUMENT);
    INFO(wrapped.error.text);
    CHECK(wrapped.error.Says(one.says));
  }
  adrt_memory_release(memory);
}

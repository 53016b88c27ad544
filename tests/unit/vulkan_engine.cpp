#include <algorithm>

#include "vulkan_wrapped.h"

// What an engine hands to the loader beside its device: a pipeline cache, allocation callbacks, hooks, names
// for its tools, and the wish that pipelines are made late.

using namespace fixture;

namespace {

struct Saxpy {
  Wrapped& device;
  adrt_memory *x = nullptr, *y = nullptr;
  adrt_launch_plan* plan = nullptr;
  float a = 2;

  explicit Saxpy(Wrapped& wrapped) : device(wrapped) {
    for (adrt_memory** one : {&x, &y})
      device.Must(adrt_memory_create(device.device, 400, one, &device.error));
    plan = device.Plan("saxpy", {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {100}),
                                 BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {100}),
                                 ScalarArg("a", ADRT_TYPE_F32, &a)});
  }
  Saxpy(const Saxpy&) = delete;
  Saxpy& operator=(const Saxpy&) = delete;
  ~Saxpy() {
    adrt_plan_release(plan);
    for (adrt_memory* one : {x, y}) adrt_memory_release(one);
  }
  adrt_status Run() { return adrt_run(plan, nullptr, &device.error); }
};

}  // namespace

TEST_CASE("every object comes from the caller's callbacks, every pipeline from its cache", "[vulkan]") {
  VkAllocationCallbacks callbacks = {};
  Wrapped device;
  device.driver.callbacks = &callbacks;
  device.desc.allocation_callbacks = &callbacks;
  device.desc.pipeline_cache = 0x1234;
  device.Open();
  REQUIRE(device.driver.pipelines.size() > 5);
  for (const FakeVulkan::Pipeline& made : device.driver.pipelines)
    CHECK(reinterpret_cast<uintptr_t>(made.cache) == 0x1234);
  Saxpy saxpy(device);
  device.Must(saxpy.Run());
}

TEST_CASE("pipelines that are made late are made once, by the recording that takes them", "[vulkan]") {
  Wrapped device;
  device.desc.flags = ADRT_VK_LAZY;
  device.Open();
  CHECK(device.driver.pipelines.empty());
  Saxpy saxpy(device);
  CHECK(device.driver.pipelines.empty());
  for (int turn = 0; turn < 2; ++turn) {
    device.Must(saxpy.Run());
    REQUIRE(device.driver.pipelines.size() == 1);
    CHECK(device.driver.pipelines[0].symbol == "adc_saxpy_t0");
  }
}

TEST_CASE("where a late pipeline cannot be made nothing is recorded", "[vulkan]") {
  Wrapped device;
  device.desc.flags = ADRT_VK_LAZY;
  device.Open();
  Saxpy saxpy(device);
  adrt_memory *heap = nullptr, *block = nullptr;
  device.Must(adrt_memory_create(device.device, 4096, &heap, &device.error));
  device.Must(adrt_memory_create(device.device, ADRT_STATUS_BYTES, &block, &device.error));
  adrt_vk_launch launch = {};
  launch.struct_size = sizeof launch;
  launch.heap = static_cast<const adrt_vk_buffer*>(adrt_memory_data(heap));
  launch.status = static_cast<const adrt_vk_buffer*>(adrt_memory_data(block));
  device.driver.commands.clear();
  device.driver.fail_at = device.driver.calls + 1;
  int commands = 0;  // the driver looks at no command buffer while one records
  CHECK(adrt_record_vk(saxpy.plan, &commands, &launch, &device.error) == ADRT_ERROR_DRIVER);
  CHECK(device.error.Says("vkCreateComputePipelines"));
  CHECK(device.driver.commands.empty());
  device.Must(adrt_record_vk(saxpy.plan, &commands, &launch, &device.error));
  CHECK(device.driver.Recorded("vkCmdDispatch 2"));
  adrt_memory_release(heap);
  adrt_memory_release(block);
}

TEST_CASE("objects have names and tasks labels where the instance shows them", "[vulkan]") {
  for (bool shown : {false, true}) {
    Wrapped device;
    device.desc.flags = shown ? ADRT_VK_NAMES : 0;
    device.Open();
    Saxpy saxpy(device);
    device.driver.commands.clear();
    device.Must(saxpy.Run());
    const std::vector<std::string>& names = device.driver.names;
    CHECK((std::count(names.begin(), names.end(), "adc_saxpy_t0") == 1) == shown);
    CHECK((std::count(names.begin(), names.end(), "adrt memory") >= 2) == shown);
    std::vector<std::string>& commands = device.driver.commands;
    auto begin = std::find_if(commands.begin(), commands.end(), [](const std::string& one) {
      return one.starts_with("vkCmdBeginDebugUtilsLabelEXT saxpy, task 0 (");
    });
    CHECK((begin != commands.end()) == shown);
    CHECK((std::count(begin, commands.end(), "vkCmdEndDebugUtilsLabelEXT") == 1) == shown);
  }
}

TEST_CASE("hooks stand around each task, and hear of each pipeline", "[vulkan]") {
  struct Heard {
    FakeVulkan* driver;
    std::vector<std::string> pipelines, tasks;
    static void Begin(void* user, void* commands, const char* kernel, uint32_t task, const char* place) {
      Heard& heard = *static_cast<Heard*>(user);
      CHECK(commands != nullptr);
      CHECK(std::strlen(place) > 0);
      heard.driver->commands.push_back("begin");
      heard.tasks.push_back(std::string(kernel) + "." + std::to_string(task));
    }
    static void End(void* user, void*, const char*, uint32_t, const char*) {
      static_cast<Heard*>(user)->driver->commands.push_back("end");
    }
    static void Made(void* user, const char* symbol) {
      static_cast<Heard*>(user)->pipelines.push_back(symbol);
    }
  };
  Wrapped device;
  Heard heard = {&device.driver, {}, {}};
  adrt_vk_hooks hooks = {};
  device.desc.hooks = &hooks;
  CHECK(device.Wrap() == ADRT_ERROR_ARGUMENT);
  CHECK(device.error.Says("hooks: struct_size"));
  hooks.struct_size = sizeof hooks;
  hooks.user = &heard;
  hooks.task_begin = Heard::Begin;
  hooks.task_end = Heard::End;
  hooks.pipeline_made = Heard::Made;
  device.Open();
  CHECK(heard.pipelines.size() == device.driver.pipelines.size());
  Saxpy saxpy(device);
  device.driver.commands.clear();
  device.Must(saxpy.Run());
  CHECK(heard.tasks == std::vector<std::string>{"saxpy.0"});
  const std::vector<std::string>& commands = device.driver.commands;
  auto at = [&](const char* what) {
    return std::find(commands.begin(), commands.end(), what) - commands.begin();
  };
  CHECK(at("begin") < at("vkCmdDispatch 2"));
  CHECK(at("vkCmdDispatch 2") + 1 == at("end"));
}

TEST_CASE("flags that are none, and names that the instance cannot show, are refused", "[vulkan]") {
  Wrapped device;
  device.desc.flags = ADRT_VK_NAMES;
  device.driver.missing = "vkCmdEndDebugUtilsLabelEXT";
  CHECK(device.Wrap() == ADRT_ERROR_DEVICE_FEATURE);
  CHECK(device.error.Says("VK_EXT_debug_utils"));
  device.desc.flags = 64;
  CHECK(device.Wrap() == ADRT_ERROR_ARGUMENT);
  CHECK(device.error.Says("ADRT_VK_NAMES and ADRT_VK_LAZY"));
}

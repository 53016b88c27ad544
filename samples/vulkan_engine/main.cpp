// A small engine that owns its Vulkan device and learns, frame by frame, how to throw balls at goals.
//
// Each frame records a sequence of three launches of a bundle's kernels into the engine's own command buffer,
// by one call: the flights and their loss, the gradient of the loss with respect to the velocities, and the
// step downhill. The loader puts barriers where one reads what another writes; it never submits or waits, and
// heaps and status blocks are the engine's too, their sizes known from the plans.
//
//   vulkan_engine BUNDLE [--frames=N] [--below=LOSS] [--validate]
//
// Exit code 1 where anything fails, where the loss does not end below LOSS (or below where it began), or
// where the validation layer has something to say.

#include <adrt/adrt_sequence.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

#include "engine.h"

namespace {

using engine::Check, engine::Fail;

constexpr int64_t kBalls = 256;

struct Options {
  const char* bundle = nullptr;
  uint32_t frames = 100;
  float below = INFINITY;
  bool validate = false;
};

Options ReadOptions(int argc, char** argv) {
  Options options;
  // "--name=NUMBER"
  auto number = [](std::string_view word, std::string_view name, auto* value) {
    if (!word.starts_with(name)) return false;
    word.remove_prefix(name.size());
    return std::from_chars(word.data(), word.data() + word.size(), *value).ec == std::errc();
  };
  bool good = true;
  for (int index = 1; index < argc; ++index) {
    std::string_view word = argv[index];
    if (word == "--validate") {
      options.validate = true;
    } else if (options.bundle == nullptr && !word.starts_with("-")) {
      options.bundle = argv[index];
    } else {
      good = good && (number(word, "--frames=", &options.frames) || number(word, "--below=", &options.below));
    }
  }
  if (good && options.bundle != nullptr && options.frames > 0) return options;
  Fail("usage: vulkan_engine BUNDLE [--frames=N] [--below=LOSS] [--validate]");
}

adrt_error NoError() {
  adrt_error error = {};
  error.struct_size = sizeof error;
  return error;
}

adrt_bundle* OpenBundle(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;  // it came with the program
  adrt_bundle* bundle = nullptr;
  adrt_error error = NoError();
  Check(adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_COPY, &bundle, &error), error, path);
  return bundle;
}

/// What kernels may name: buffers of the device and numbers of the host.
struct World {
  std::map<std::string, engine::Device::Buffer> buffers;
  std::map<std::string, std::vector<int64_t>> extents;
  std::map<std::string, int32_t> integers;
  std::map<std::string, float> floats;
};

/// One kernel, ready to be part of a sequence.
class Launch {
 public:
  Launch(const engine::Device& device, const adrt_bundle* bundle, adrt_module* module, const char* name,
         World& world)
      : device_(device), name_(name) {
    adrt_error error = NoError();
    const adrt_kernel* kernel = nullptr;
    Check(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error), error, name);
    std::vector<adrt_arg> args = Arguments(kernel, world);
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.args = args.data();
    desc.module = module;
    Check(adrt_plan(kernel, &desc, &plan_, &error), error, name);
    adrt_plan_report report = {};
    report.struct_size = sizeof report;
    Check(adrt_plan_info(plan_, &report, &error), error, name);
    heap_ = device.MakeBuffer(std::max<uint64_t>(report.heap_bytes, 16));
    status_ = device.MakeBuffer(ADRT_STATUS_BYTES);
    std::printf("%-12s heap of %llu bytes\n", name, static_cast<unsigned long long>(report.heap_bytes));
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    adrt_plan_release(plan_);
    device_.Destroy(heap_);
    device_.Destroy(status_);
  }

  void AddTo(adrt_sequence* sequence) {
    adrt_error error = NoError();
    Check(adrt_sequence_add(sequence, plan_, &heap_.place, heap_.place.size, &status_.place, &error), error,
          name_);
  }
  /// Once the frame is done: whether the kernel had something to report.
  void CheckStatus() const {
    adrt_error error = NoError();
    Check(adrt_status_read(plan_, status_.mapped, &error), error, name_);
  }

 private:
  // Every parameter of the kernel is found in the world by its name.
  static std::vector<adrt_arg> Arguments(const adrt_kernel* kernel, World& world) {
    std::vector<adrt_arg> args;
    for (uint32_t index = 0;; ++index) {
      adrt_param_report param = {};
      param.struct_size = sizeof param;
      if (adrt_kernel_param(kernel, index, &param, nullptr) != ADRT_OK) return args;
      adrt_arg arg = {};
      arg.struct_size = sizeof arg;
      arg.kind = param.kind;
      arg.name = param.name;
      arg.type = param.type;
      arg.rows = param.rows;
      arg.columns = param.columns;
      arg.rank = param.rank;
      if (param.kind == ADRT_PARAM_BUFFER) {
        arg.data = &world.buffers.at(param.name).place;
        const std::vector<int64_t>& extents = world.extents.at(param.name);
        std::copy(extents.begin(), extents.end(), arg.extents);
      } else if (param.type == ADRT_TYPE_I32) {
        arg.data = &world.integers.at(param.name);
      } else {
        arg.data = &world.floats.at(param.name);
      }
      args.push_back(arg);
    }
  }

  const engine::Device& device_;
  const char* name_;
  adrt_launch_plan* plan_ = nullptr;
  engine::Device::Buffer heap_, status_;
};

World MakeWorld(const engine::Device& device) {
  World world;
  world.extents = {{"v", {kBalls}}, {"v.adj", {kBalls}}, {"goal", {kBalls}}, {"loss", {}}, {"loss.adj", {}}};
  for (const auto& [name, extents] : world.extents) {
    world.buffers[name] = device.MakeBuffer(extents.empty() ? sizeof(float) : 2 * sizeof(float) * kBalls);
  }
  float* v = static_cast<float*>(world.buffers["v"].mapped);
  float* goal = static_cast<float*>(world.buffers["goal"].mapped);
  for (int64_t ball = 0; ball < kBalls; ++ball) {
    v[2 * ball] = v[2 * ball + 1] = 5;
    goal[2 * ball] = 2 + 3 * static_cast<float>(ball) / kBalls;
    goal[2 * ball + 1] = static_cast<float>(ball % 8) / 4;
  }
  *static_cast<float*>(world.buffers["loss.adj"].mapped) = 1;
  world.integers = {{"steps", 50}};
  world.floats = {{"dt", 0.02f}, {"rate", 0.3f}};
  return world;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = ReadOptions(argc, argv);
  adrt_bundle* bundle = OpenBundle(options.bundle);
  uint32_t faults = 0;
  float first = 0, last = 0;
  {
    engine::Device device(bundle, options.validate);
    adrt_target_info target = {};
    target.struct_size = sizeof target;
    adrt_error error = NoError();
    Check(adrt_bundle_target(bundle, device.Target(), &target, &error), error, "adrt_bundle_target");
    std::printf("on %s, with the code for %s\n", device.Name(), target.name);
    adrt_device* wrapped = device.Wrap();
    adrt_module* module = nullptr;
    Check(adrt_module_load_target(wrapped, bundle, device.Target(), &module, &error), error,
          "adrt_module_load_target");
    World world = MakeWorld(device);
    {
      Launch flights(device, bundle, module, "throw", world),
          gradient(device, bundle, module, "throw.grad", world),
          step(device, bundle, module, "descend", world);
      adrt_sequence* sequence = nullptr;
      Check(adrt_sequence_create(wrapped, &sequence, &error), error, "adrt_sequence_create");
      for (Launch* launch : {&flights, &gradient, &step}) launch->AddTo(sequence);
      for (uint32_t frame = 0; frame < options.frames; ++frame) {
        VkCommandBuffer commands = device.Begin();
        for (const char* name : {"loss", "v.adj"}) {
          vkCmdFillBuffer(commands, world.buffers[name].handle(), 0, VK_WHOLE_SIZE, 0);
        }
        Check(adrt_sequence_record(sequence, commands, &error), error, "adrt_sequence_record");
        device.Submit();
        for (Launch* launch : {&flights, &gradient, &step}) launch->CheckStatus();
        last = *static_cast<const float*>(world.buffers["loss"].mapped) / kBalls;
        if (frame == 0) first = last;
        if (frame % 10 == 0 || frame + 1 == options.frames)
          std::printf("frame %3u: loss %.6f\n", frame, static_cast<double>(last));
      }
      adrt_sequence_report report = {};
      report.struct_size = sizeof report;
      Check(adrt_sequence_info(sequence, &report, &error), error, "adrt_sequence_info");
      std::printf("%u commands of %u launches, %u barriers between\n", report.command_count,
                  report.launch_count, report.barrier_count);
      adrt_sequence_release(sequence);
    }
    for (auto& [name, buffer] : world.buffers) device.Destroy(buffer);
    adrt_module_release(module);
    adrt_device_release(wrapped);
    faults = device.Faults();
  }
  adrt_bundle_release(bundle);
  if (faults > 0) Fail(std::to_string(faults) + " messages of the validation layer");
  if (!(last < first) || !(last < options.below)) Fail("the loss did not fall as it should");
  return 0;
}

#include "vulkan_fixture.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fixture {
namespace {

using namespace adc::artifact;

constexpr uint32_t kBlockSize = 64, kLanes = 32;

ParamMeta Param(const char* name, ParamKind kind, ScalarType type, uint32_t rank, Access access) {
  ParamMeta param;
  param.name = name;
  param.kind = kind;
  param.type = type;
  param.rank = rank;
  param.access = access;
  return param;
}

ParamMeta Buffer(const char* name, ScalarType type, Access access) {
  return Param(name, ParamKind::kBuffer, type, 1, access);
}

KernelMeta Kernel(const char* name) {
  KernelMeta kernel;
  kernel.name = name;
  kernel.place = "fixture.ir:1:1";
  return kernel;
}

// A task whose near entry binds the given parameters at 0, 1, ...
void AddTask(KernelMeta& kernel, Vector<NodeId> extents, std::initializer_list<uint32_t> bound) {
  TaskMeta task;
  task.kind = extents.empty() ? TaskKind::kSerial : TaskKind::kParallel;
  task.place = "fixture.ir:2:3";
  task.extents = extents;
  EntryMeta entry;
  std::string symbol = "adc_" + std::string(kernel.name.view()) + "_t" + std::to_string(kernel.tasks.size());
  entry.symbol = std::string_view(symbol);
  entry.far_symbol = std::string_view(symbol + "_far");
  entry.block_size = kBlockSize;
  for (uint32_t param : bound) {
    BindingMeta binding;
    binding.number = static_cast<uint32_t>(entry.bindings.size());
    binding.param = param;
    binding.type = kernel.params[param].type;
    entry.bindings.push_back(binding);
  }
  task.entries.push_back(entry);
  kernel.tasks.push_back(task);
}

void AddStack(TaskMeta& task, ScalarType type, NodeId capacity, const char* gate) {
  if (task.plans.empty()) {
    task.plans.push_back({});
    task.plans[0].lanes = kLanes;
    task.plans[0].groups.push_back({gate});
    task.entries[0].plan = 0;
  }
  StackMeta stack;
  stack.id = static_cast<uint32_t>(task.plans[0].stacks.size());
  stack.type = type;
  stack.capacity = capacity;
  stack.place = "fixture.ir:4:7";
  task.plans[0].stacks.push_back(stack);
}

KernelMeta Saxpy() {
  KernelMeta kernel = Kernel("saxpy");
  kernel.params.push_back(Buffer("x", ScalarType::kF32, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, Access::kReadWrite));
  kernel.params.push_back(Param("a", ParamKind::kScalar, ScalarType::kF32, 0, Access::kRead));
  AddTask(kernel, {kernel.exprs.Shape(1, 0)}, {0, 1});
  return kernel;
}

KernelMeta Tape() {
  KernelMeta kernel = Kernel("tape");
  kernel.params.push_back(Buffer("x", ScalarType::kF64, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF64, Access::kWrite));
  kernel.params.push_back(Param("n", ParamKind::kScalar, ScalarType::kI32, 0, Access::kRead));
  AddTask(kernel, {kernel.exprs.Shape(0, 0)}, {0, 1});
  NodeId steps = kernel.exprs.Clamp0(kernel.exprs.Arg(2));
  AddStack(kernel.tasks[0], ScalarType::kF64, steps, "");
  AddStack(kernel.tasks[0], ScalarType::kI32, steps, "");
  return kernel;
}

KernelMeta Pick() {
  KernelMeta kernel = Kernel("pick");
  kernel.params.push_back(Buffer("x", ScalarType::kF32, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, Access::kWrite));
  kernel.params.push_back(Param("n", ParamKind::kScalar, ScalarType::kI32, 0, Access::kRead));
  AddTask(kernel, {kernel.exprs.Shape(0, 0)}, {0, 1});
  AddStack(kernel.tasks[0], ScalarType::kF32, kernel.exprs.Clamp0(kernel.exprs.Arg(2)), "fixture.ir:3:5");
  return kernel;
}

KernelMeta Mean() {
  KernelMeta kernel = Kernel("mean");
  kernel.params.push_back(Buffer("x", ScalarType::kF32, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, Access::kWrite));
  ParamMeta sum = Param("sum.0", ParamKind::kScratch, ScalarType::kF32, 1, Access::kReadWrite);
  sum.role = ParamRole::kScratch;
  sum.extents.push_back(kernel.exprs.Const(1));
  kernel.params.push_back(sum);
  AddTask(kernel, {}, {0});
  AddTask(kernel, {kernel.exprs.Shape(1, 0)}, {1});
  return kernel;
}

KernelMeta Stop() {
  KernelMeta kernel = Kernel("stop");
  kernel.params.push_back(Buffer("x", ScalarType::kF32, Access::kRead));
  AddTask(kernel, {kernel.exprs.Shape(0, 0)}, {0});
  kernel.asserts.push_back({"fixture.ir:3:5", "x is not negative"});
  return kernel;
}

}  // namespace

std::vector<uint8_t> ReadSpirv() {
  std::ifstream file(ADRT_FIXTURE_SPIRV, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Metadata MakeVulkanMetadata() {
  Metadata metadata;
  metadata.producer = "fixture";
  metadata.sources.push_back("fixture.ir");
  TargetMeta target;
  target.name = "vulkan:1.2";
  target.kind = "vulkan";
  target.arch = "1.2";
  target.abi = "spirv";
  for (const char* feature : {"bufferDeviceAddress", "shaderFloat64", "shaderInt64"}) {
    target.features.push_back(feature);
  }
  metadata.targets.push_back(target);
  for (KernelMeta kernel : {Mean(), Pick(), Saxpy(), Stop(), Tape()}) metadata.kernels.push_back(kernel);
  FinishMetadata(&metadata);
  return metadata;
}

std::vector<uint8_t> MakeVulkanBundle(const Metadata& metadata, const std::vector<uint8_t>& spirv) {
  Error error;
  String json;
  std::vector<SectionInput> sections;
  for (uint32_t target = 0; target < metadata.targets.size(); ++target) {
    SectionInput& code = sections.emplace_back();
    code.kind = section::kSpirv;
    code.target = target;
    code.bytes = {spirv.data(), spirv.size()};
  }
  Vector<uint8_t> file;
  bool written = WriteMetadata(metadata, &json, &error);
  SectionInput& meta = sections.emplace_back();
  meta.kind = section::kMeta;
  meta.required = true;
  meta.bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  if (!written || !WriteBundle({sections.data(), sections.size()}, &file, &error)) {
    std::fprintf(stderr, "fixture: %s\n", error.text);
    std::abort();
  }
  return {file.begin(), file.end()};
}

std::vector<uint8_t> MakeVulkanBundle() {
  return MakeVulkanBundle(MakeVulkanMetadata(), ReadSpirv());
}

std::vector<uint8_t> MakeVulkanBundleOfTwo() {
  Metadata metadata = MakeVulkanMetadata();
  TargetMeta newer = metadata.targets[0];
  newer.name = "vulkan:1.3";
  newer.arch = "1.3";
  newer.features.push_back("shaderBufferFloat32AtomicAdd");
  std::sort(newer.features.begin(), newer.features.end(),
            [](const String& a, const String& b) { return a.view() < b.view(); });
  metadata.targets.push_back(newer);
  for (KernelMeta& kernel : metadata.kernels) {
    for (TaskMeta& task : kernel.tasks) {
      EntryMeta entry = task.entries[0];
      entry.target = 1;
      task.entries.push_back(entry);
    }
  }
  FinishMetadata(&metadata);
  return MakeVulkanBundle(metadata, ReadSpirv());
}

}  // namespace fixture

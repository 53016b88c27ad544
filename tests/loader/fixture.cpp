#include "fixture.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace fixture {
namespace {

using namespace adc::artifact;

ParamMeta Buffer(const char* name, ScalarType type, uint32_t rank, Access access) {
  ParamMeta param;
  param.name = name;
  param.type = type;
  param.rank = rank;
  param.access = access;
  return param;
}

ParamMeta Scalar(const char* name, ScalarType type, uint32_t rows = 1, uint32_t columns = 1) {
  ParamMeta param;
  param.name = name;
  param.kind = ParamKind::kScalar;
  param.type = type;
  param.rows = rows;
  param.columns = columns;
  param.access = Access::kRead;
  return param;
}

TaskMeta Task(const std::string& kernel, int number, Vector<NodeId> extents) {
  TaskMeta task;
  task.kind = extents.empty() ? TaskKind::kSerial : TaskKind::kParallel;
  task.place = std::string_view("fixture.ir:" + std::to_string(10 * number + 2) + ":3");
  task.extents = extents;
  EntryMeta entry;
  entry.symbol = std::string_view("adc_" + kernel + "_t" + std::to_string(number));
  task.entries.push_back(entry);
  return task;
}

void AddStack(TaskMeta& task, ScalarType type, NodeId capacity, const char* place) {
  if (task.plans.empty()) {
    task.plans.push_back({});
    task.plans[0].groups.push_back({});
    task.entries[0].plan = 0;
  }
  StackMeta stack;
  stack.id = static_cast<uint32_t>(task.plans[0].stacks.size());
  stack.type = type;
  stack.capacity = capacity;
  stack.place = place;
  task.plans[0].stacks.push_back(stack);
}

KernelMeta Kernel(const char* name) {
  KernelMeta kernel;
  kernel.name = name;
  kernel.place = "fixture.ir:1:1";
  return kernel;
}

KernelMeta Saxpy() {
  KernelMeta kernel = Kernel("saxpy");
  kernel.params.push_back(Buffer("x", ScalarType::kF32, 1, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, 1, Access::kReadWrite));
  kernel.params.push_back(Scalar("a", ScalarType::kF32));
  kernel.params[1].shape_i32 = true;
  kernel.params[1].shape_i32_axes = 1;
  kernel.tasks.push_back(Task("saxpy", 0, {kernel.exprs.Shape(1, 0)}));
  return kernel;
}

KernelMeta Tape() {
  KernelMeta kernel = Kernel("tape");
  kernel.params.push_back(Buffer("x", ScalarType::kF64, 1, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF64, 1, Access::kWrite));
  kernel.params.push_back(Scalar("n", ScalarType::kI32));
  kernel.tasks.push_back(Task("tape", 0, {kernel.exprs.Shape(0, 0)}));
  NodeId steps = kernel.exprs.Clamp0(kernel.exprs.Arg(2));
  AddStack(kernel.tasks[0], ScalarType::kF64, steps, "fixture.ir:4:7");
  AddStack(kernel.tasks[0], ScalarType::kI32, steps, "fixture.ir:5:7");
  return kernel;
}

KernelMeta Mean() {
  KernelMeta kernel = Kernel("mean");
  kernel.params.push_back(Buffer("x", ScalarType::kF32, 1, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, 1, Access::kWrite));
  ParamMeta sum = Buffer("sum.0", ScalarType::kF32, 1, Access::kReadWrite);
  sum.kind = ParamKind::kScratch;
  sum.role = ParamRole::kScratch;
  sum.extents.push_back(kernel.exprs.Const(1));
  kernel.params.push_back(sum);
  kernel.tasks.push_back(Task("mean", 0, {}));
  kernel.tasks.push_back(Task("mean", 1, {kernel.exprs.Shape(1, 0)}));
  return kernel;
}

KernelMeta Compact() {
  KernelMeta kernel = Kernel("compact");
  kernel.params.push_back(Buffer("x", ScalarType::kI32, 1, Access::kRead));
  kernel.params.push_back(Buffer("count", ScalarType::kI32, 0, Access::kReadWrite));
  kernel.params.push_back(Buffer("out", ScalarType::kI32, 1, Access::kReadWrite));
  NodeId count = kernel.exprs.Read(1, {});
  kernel.tasks.push_back(Task("compact", 0, {}));
  kernel.tasks.push_back(Task("compact", 1, {count}));
  AddStack(kernel.tasks[1], ScalarType::kI32, count, "fixture.ir:14:7");
  return kernel;
}

KernelMeta Rows() {
  KernelMeta kernel = Kernel("rows");
  kernel.params.push_back(Buffer("start", ScalarType::kI32, 1, Access::kRead));
  kernel.params.push_back(Buffer("x", ScalarType::kF32, 1, Access::kRead));
  kernel.params.push_back(Buffer("y", ScalarType::kF32, 1, Access::kWrite));
  SizeExprPool& pool = kernel.exprs;
  NodeId row = pool.Index(0), next = pool.Add(row, pool.Const(1)), count = pool.Shape(2, 0);
  NodeId length = pool.Sub(pool.Read(0, {&next, 1}), pool.Read(0, {&row, 1}));
  kernel.tasks.push_back(Task("rows", 0, {count}));
  AddStack(kernel.tasks[0], ScalarType::kF32, pool.MaxOver(0, pool.Const(0), count, length),
           "fixture.ir:4:9");
  return kernel;
}

KernelMeta Collatz() {
  KernelMeta kernel = Kernel("collatz");
  kernel.params.push_back(Buffer("x", ScalarType::kU32, 1, Access::kReadWrite));
  kernel.tasks.push_back(Task("collatz", 0, {kernel.exprs.Shape(0, 0)}));
  AddStack(kernel.tasks[0], ScalarType::kU32, kNoNode, "fixture.ir:6:9");
  kernel.tasks[0].plans[0].stacks[0].addressing = Addressing::kCounted;
  return kernel;
}

// Collatz again, with a kernel that counts what its stack takes.
KernelMeta Counted() {
  KernelMeta kernel = Collatz();
  kernel.name = "counted";
  kernel.tasks[0].entries[0].symbol = "adc_counted_t0";
  kernel.tasks[0].size_kernel = "counted.size0";
  kernel.tasks[0].count_reads = {0};
  return kernel;
}

KernelMeta CountedSize() {
  KernelMeta kernel = Kernel("counted.size0");
  kernel.role = KernelRole::kSize;
  kernel.of = "counted";
  kernel.params.push_back(Buffer("x", ScalarType::kU32, 1, Access::kRead));
  kernel.params.push_back(Buffer("sizes", ScalarType::kI64, 1, Access::kReadWrite));
  kernel.tasks.push_back(Task("counted_2Esize0", 0, {kernel.exprs.Shape(0, 0)}));
  return kernel;
}

KernelMeta Check() {
  KernelMeta kernel = Kernel("check");
  kernel.params.push_back(Buffer("x", ScalarType::kF32, 2, Access::kRead));
  kernel.params.push_back(Scalar("m", ScalarType::kF32, 2, 2));
  kernel.params.push_back(Scalar("k", ScalarType::kI8));
  kernel.params.push_back(Scalar("u", ScalarType::kU16));
  kernel.params.push_back(Scalar("flag", ScalarType::kI1));
  kernel.params.push_back(Scalar("code", ScalarType::kU32));
  kernel.tasks.push_back(Task("check", 0, {kernel.exprs.Shape(0, 0), kernel.exprs.Shape(0, 1)}));
  kernel.asserts.push_back({"fixture.ir:3:5", "never"});
  kernel.asserts.push_back({"fixture.ir:4:5", "%k is where it should be"});
  kernel.accesses.push_back({"fixture.ir:7:5", "x"});
  kernel.accesses.push_back({"fixture.ir:8:5", "x"});
  return kernel;
}

}  // namespace

KernelMeta WideKernel(uint32_t words) {
  std::string name = "wide" + std::to_string(words);
  KernelMeta kernel = Kernel(name.c_str());
  kernel.params.push_back(Buffer("y", ScalarType::kU64, 1, Access::kReadWrite));
  kernel.params.push_back(Scalar("words", ScalarType::kU64));
  // Beside the buffer's two words and the last four of a launch.
  for (uint32_t number = 1; number + 2 + 4 < words; ++number)
    kernel.params.push_back(Scalar(("p" + std::to_string(number)).c_str(), ScalarType::kU64));
  kernel.tasks.push_back(Task(name, 0, {kernel.exprs.Shape(0, 0)}));
  return kernel;
}

std::vector<uint8_t> ReadImage() {
  std::ifstream file(ADRT_FIXTURE_IMAGE, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Metadata MakeMetadata() {
  Metadata metadata;
  metadata.producer = "fixture";
  metadata.sources.push_back("fixture.ir");
  TargetMeta target;
  target.kind = "cpu";
  target.abi = "elf";
#if defined(__x86_64__)
  target.name = "cpu:x86-64";
  target.arch = "x86-64";
#else
  target.name = "cpu:aarch64";
  target.arch = "aarch64";
#endif
  metadata.targets.push_back(target);
  target.name = "cpu:other";
  target.arch = "riscv64";
  metadata.targets.push_back(target);
  for (KernelMeta kernel :
       {Saxpy(), Tape(), Mean(), Compact(), Rows(), Collatz(), Counted(), CountedSize(), Check()}) {
    metadata.kernels.push_back(kernel);
  }
  FinishMetadata(&metadata);
  return metadata;
}

Metadata MakeFullMetadata() {
  Metadata metadata = MakeMetadata();
  FieldMeta field;
  field.name = "mass";
  field.levels = {{{4, 4}, {64, 16}}};
  LayoutMeta layout;
  layout.name = "grid";
  layout.size = 256;
  layout.alignment = 4;
  layout.fields = {field};
  metadata.layouts = {layout};
  TargetMeta target;
  target.name = "vulkan:1.2";
  target.kind = "vulkan";
  target.arch = "1.2";
  target.abi = "spirv";
  target.features = {String("bufferDeviceAddress"), String("shaderInt64")};
  metadata.targets.push_back(target);
  EntryMeta entry;
  entry.target = 2;
  entry.symbol = "adc_check_t0";
  entry.far_symbol = "adc_check_t0_far";
  entry.block_size = 128;
  entry.bindings = {{0, BindingOf::kParam, 0, ScalarType::kF32},
                    {1, BindingOf::kStatus, kNoIndex, ScalarType::kU32}};
  for (KernelMeta& kernel : metadata.kernels) {
    if (kernel.name == "check") kernel.tasks[0].entries.push_back(entry);
  }
  return metadata;
}

std::vector<uint8_t> MakeBundle(const Metadata& metadata, const std::vector<uint8_t>& image) {
  Error error;
  String json;
  if (!WriteMetadata(metadata, &json, &error)) {
    std::fprintf(stderr, "fixture: %s\n", error.text);
    std::abort();
  }
  SectionInput sections[2];
  sections[0].kind = section::kImage;
  sections[0].target = 0;
  sections[0].alignment = 4096;
  sections[0].bytes = {image.data(), image.size()};
  sections[1].kind = section::kMeta;
  sections[1].required = true;
  sections[1].bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  Vector<uint8_t> file;
  if (!WriteBundle({sections, 2}, &file, &error)) {
    std::fprintf(stderr, "fixture: %s\n", error.text);
    std::abort();
  }
  return {file.begin(), file.end()};
}

std::vector<uint8_t> MakeBundle() {
  return MakeBundle(MakeMetadata(), ReadImage());
}

}  // namespace fixture

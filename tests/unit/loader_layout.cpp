#include <set>

#include "artifact/adstack_layout.h"
#include "device_kernels.h"
#include "session.h"

// Where rows lie, and what a launch takes on devices that are not there.

using namespace fixture;
using namespace adc::artifact;

namespace {

struct Laid {
  AdstackPlanMeta plan;
  RowRules rules;
  std::vector<StackPlace> stacks;
  std::vector<GroupPlace> groups;
  uint64_t row_bytes = 0, end = 0;
  bool good = false;

  Laid(const char* kind, uint32_t lanes, AdstackPlanMeta from, std::vector<uint64_t> capacities,
       uint64_t rows, uint64_t begin = 0)
      : plan(std::move(from)), rules(RowRulesOf(kind, lanes)), groups(plan.groups.size()) {
    for (uint64_t capacity : capacities) stacks.push_back({capacity, 0});
    for (GroupPlace& group : groups) group.rows = rows;
    good =
        PlaceStacks(plan, rules, stacks, groups, &row_bytes) && PlaceRows(plan, rules, begin, groups, &end);
  }
};

StackMeta Stack(uint32_t group, ScalarType type, uint32_t share = kNoIndex, Storage storage = Storage::kRow) {
  StackMeta stack;
  stack.group = group;
  stack.type = type;
  stack.share = share;
  stack.storage = storage;
  return stack;
}

// Two groups, the second gated; a stack in private memory; two that share bytes.
AdstackPlanMeta TwoGroups() {
  AdstackPlanMeta plan;
  plan.groups.resize(2);
  plan.groups[1].gate = "a.ir:3:5";
  plan.stacks = {Stack(0, ScalarType::kI8),
                 Stack(1, ScalarType::kF32, 3),
                 Stack(0, ScalarType::kF64, kNoIndex, Storage::kPrivate),
                 Stack(0, ScalarType::kF64),
                 Stack(1, ScalarType::kF64, 3),
                 Stack(1, ScalarType::kI16)};
  return plan;
}

adrt_plan_report PlanFor(const char* kind, const char* abi, uint32_t workers, adrt_task_report* task) {
  Metadata metadata = MakeMetadata();
  TargetMeta target;
  target.name = std::string_view(kind);
  target.kind = std::string_view(kind);
  target.arch = "sm_70";
  target.abi = std::string_view(abi);
  AddDeviceTarget(&metadata, target);
  std::vector<uint8_t> file = MakeBundle(metadata, ReadImage());
  adrt_host host = TrustingHost();
  adrt_bundle* bundle = nullptr;
  ErrorBox error;
  INFO(error.text);
  REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) == ADRT_OK);
  const adrt_kernel* kernel = nullptr;
  REQUIRE(adrt_bundle_find_kernel(bundle, "tape", 0, &kernel, &error) == ADRT_OK);
  int32_t n = 7;
  adrt_arg args[] = {BufferArg("x", ADRT_TYPE_F64, nullptr, {1000}),
                     BufferArg("y", ADRT_TYPE_F64, nullptr, {1000}), ScalarArg("n", ADRT_TYPE_I32, &n)};
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = 3;
  desc.target = 2;
  desc.workers = workers;
  adrt_launch_plan* plan = nullptr;
  REQUIRE(adrt_plan(kernel, &desc, &plan, &error) == ADRT_OK);
  adrt_plan_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_plan_info(plan, &report, &error) == ADRT_OK);
  *task = {};
  task->struct_size = sizeof *task;
  REQUIRE(adrt_plan_task(plan, 0, task, &error) == ADRT_OK);
  adrt_plan_release(plan);
  adrt_bundle_release(bundle);
  return report;
}

}  // namespace

TEST_CASE("rows of a CPU are whole cache lines", "[loader][layout]") {
  Laid laid("cpu", 1, TwoGroups(), {3, 5, 99, 2, 4, 1}, 3, 128);
  REQUIRE(laid.good);
  CHECK(laid.stacks[3].offset == 8);  // behind three bytes, aligned to 8
  CHECK(laid.stacks[4].offset == laid.stacks[1].offset);
  CHECK(laid.stacks[5].offset == 32);  // behind the larger of the two that share
  CHECK(laid.groups[0].stride == 64);
  CHECK(laid.groups[1].stride == 64);
  CHECK(laid.groups[0].offset == 128);
  CHECK(laid.groups[1].offset == 128 + 3 * 64);
  CHECK(laid.end == 128 + 6 * 64);
  CHECK(AdstackWordCount(laid.plan, laid.rules) == 2 * 2 + 5 * 2);
}

TEST_CASE("rows of a GPU lie in blocks of lanes behind the counters of gated groups", "[loader][layout]") {
  Laid laid("cuda", 32, TwoGroups(), {3, 5, 99, 2, 4, 1}, 64, 512);
  REQUIRE(laid.good);
  CHECK(laid.groups[0].stride == 24);
  CHECK(laid.groups[1].stride == 40);
  CHECK(laid.groups[0].counter == 0);
  CHECK(laid.groups[1].counter == 512);
  CHECK(laid.groups[0].offset == 512 + 256);
  CHECK(laid.groups[1].offset == 512 + 256 + 64 * 24);
  CHECK(laid.end == 512 + 256 + 64 * 64);
  CHECK(CounterBytes(laid.plan, laid.rules) == 256);
  std::vector<uint64_t> words(AdstackWordCount(laid.plan, laid.rules));
  WriteAdstackWords(laid.plan, laid.rules, laid.stacks, laid.groups, words.data());
  CHECK(words == std::vector<uint64_t>{768, 24, 64, 0, 2304, 40, 64, 512, 0, 3, 0, 5, 8, 2, 0, 4, 32, 1});
}

TEST_CASE("no two elements of interleaved rows share a byte", "[loader][layout]") {
  for (uint32_t lanes : {32u, 64u}) {
    AdstackPlanMeta plan;
    plan.groups.resize(1);
    plan.stacks = {Stack(0, ScalarType::kI8), Stack(0, ScalarType::kF64), Stack(0, ScalarType::kI16)};
    Laid laid("hip", lanes, plan, {3, 5, 7}, 2 * lanes);
    REQUIRE(laid.good);
    std::set<uint64_t> taken;
    for (uint64_t row = 0; row < 2 * lanes; ++row) {
      for (size_t stack = 0; stack < 3; ++stack) {
        uint64_t size = ScalarTypeSize(plan.stacks[stack].type);
        for (uint64_t slot = 0; slot < laid.stacks[stack].capacity; ++slot) {
          uint64_t offset = laid.stacks[stack].offset + slot * size;
          uint64_t at = laid.groups[0].offset + row / lanes * laid.groups[0].stride * lanes + offset * lanes +
                        row % lanes * size;
          REQUIRE(at % size == 0);
          for (uint64_t byte = 0; byte < size; ++byte) REQUIRE(taken.insert(at + byte).second);
        }
      }
    }
    CHECK(*taken.rbegin() < laid.end);
  }
}

TEST_CASE("flags lie in rows as bits of words", "[loader][layout]") {
  AdstackPlanMeta plan;
  plan.groups.resize(1);
  plan.stacks = {Stack(0, ScalarType::kI8), Stack(0, ScalarType::kU32), Stack(0, ScalarType::kI8)};
  plan.stacks[1].bits = true;
  for (auto [flags, bytes] :
       {std::pair<uint64_t, uint64_t>{0, 0}, {1, 4}, {31, 4}, {32, 4}, {33, 8}, {100, 16}}) {
    Laid laid("cuda", 32, plan, {1, flags, 1}, 32);
    REQUIRE(laid.good);
    CHECK(laid.stacks[1].offset == 4);
    CHECK(laid.stacks[2].offset == 4 + bytes);
    uint64_t taken = 0;
    REQUIRE(StackBytes(plan.stacks[1], flags, &taken));
    CHECK(taken == bytes);
  }
  CHECK(ElementsIn(plan.stacks[1], 64) == 512);
  CHECK(ElementsIn(plan.stacks[0], 64) == 64);
  // The largest number of flags is far from the largest number of bytes.
  uint64_t most = 0;
  CHECK(StackBytes(plan.stacks[1], UINT64_MAX, &most));
  CHECK(most == uint64_t{1} << 61);
  CHECK(ElementsIn(plan.stacks[1], UINT64_MAX) == UINT64_MAX);
  // A stack that shares lies where the first does, aligned to the larger of the two.
  plan.stacks = {Stack(0, ScalarType::kI8), Stack(0, ScalarType::kU32, 0), Stack(0, ScalarType::kF64, 0)};
  plan.stacks[1].bits = true;
  Laid shared("cpu", 1, plan, {1, 640, 4}, 1);
  REQUIRE(shared.good);
  CHECK(shared.stacks[1].offset == 8);
  CHECK(shared.stacks[2].offset == 8);
  CHECK(shared.groups[0].stride == 128);
}

TEST_CASE("sizes of rows that do not fit are refused", "[loader][layout]") {
  AdstackPlanMeta plan;
  plan.groups.resize(1);
  plan.stacks = {Stack(0, ScalarType::kF64), Stack(0, ScalarType::kF64)};
  CHECK(Laid("cuda", 32, plan, {1u << 20, 1u << 20}, 1024).good);
  CHECK_FALSE(Laid("cuda", 32, plan, {uint64_t{1} << 61, 1}, 1).good);
  CHECK_FALSE(Laid("cuda", 32, plan, {uint64_t{1} << 60, uint64_t{1} << 60}, 32).good);
  CHECK_FALSE(Laid("cuda", 32, plan, {1, 1}, uint64_t{1} << 60).good);
  CHECK_FALSE(Laid("cuda", 32, plan, {1, 1}, 32, UINT64_MAX - 255).good);
  uint64_t rounded = 0;
  CHECK(RoundRows(33, RowRulesOf("metal", 32), &rounded));
  CHECK(rounded == 64);
  CHECK_FALSE(RoundRows(UINT64_MAX - 3, RowRulesOf("metal", 32), &rounded));
}

TEST_CASE("what a launch takes on a device is known without the device", "[loader][layout]") {
  adrt_task_report task = {};
  adrt_plan_report report = PlanFor("cuda", "ptx", 100, &task);
  CHECK(task.threads == 100);
  CHECK(task.rows == 128);
  CHECK(task.row_bytes == 88);
  CHECK(report.heap_bytes == 128 * 88);
  CHECK(report.heap_alignment == 256);
  CHECK(report.resolved == 1);
  // Vulkan's words lie in the heap: 17 of them, rounded up to 256 bytes.
  report = PlanFor("vulkan", "spirv", 1 << 20, &task);
  CHECK(task.threads == 1000);
  CHECK(task.rows == 1024);
  CHECK(report.heap_bytes == 256 + 1024 * 88);
}

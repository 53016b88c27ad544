#include <numeric>

#include "session.h"

using namespace fixture;

namespace {

struct Tape {
  std::vector<double> x, y;
  int32_t n = 0;
  Tape(size_t count, int32_t steps) : x(count, 0.5), y(count, -1), n(steps) {}
  std::vector<adrt_arg> Args() {
    int64_t count = static_cast<int64_t>(x.size());
    return {BufferArg("x", ADRT_TYPE_F64, x.data(), {count}),
            BufferArg("y", ADRT_TYPE_F64, y.data(), {count}), ScalarArg("n", ADRT_TYPE_I32, &n)};
  }
};

struct Rows {
  std::vector<int32_t> start;
  std::vector<float> x, y;
  explicit Rows(const std::vector<int32_t>& lengths) : start(1, 0), y(lengths.size(), -1) {
    for (int32_t length : lengths) start.push_back(start.back() + length);
    x.assign(static_cast<size_t>(start.back()), 1.0f);
  }
  std::vector<adrt_arg> Args() {
    return {BufferArg("start", ADRT_TYPE_I32, start.data(), {static_cast<int64_t>(start.size())}),
            BufferArg("x", ADRT_TYPE_F32, x.data(), {static_cast<int64_t>(x.size())}),
            BufferArg("y", ADRT_TYPE_F32, y.data(), {static_cast<int64_t>(y.size())})};
  }
};

}  // namespace

TEST_CASE("a plan gives exactly what shapes and arguments ask for", "[loader]") {
  Session session(4);
  Tape tape(100, 10);
  Plan plan(session, "tape", tape.Args());
  REQUIRE(plan.status == ADRT_OK);
  adrt_plan_report info = plan.Info();
  CHECK(info.size_class == ADRT_CLASS_S1);
  CHECK(info.resolved == 1);
  CHECK(info.workers == 4);
  CHECK(info.heap_alignment == 64);
  CHECK(info.status_bytes == 64);
  // 10 f64 and 10 i32 are 120 bytes, rounded up to 128, times four rows.
  CHECK(info.heap_bytes == 512);
  adrt_task_report task = plan.Task(0);
  CHECK(task.parallel == 1);
  CHECK(task.iterations == 100);
  CHECK(task.rows == 4);
  CHECK(task.row_bytes == 128);
  CHECK(task.stack_count == 2);
  CHECK(task.chunks == 34);  // of three iterations
  CHECK(std::string(task.place) == "fixture.ir:2:3");
  adrt_stack_report values = plan.Stack(0, 0), steps = plan.Stack(0, 1);
  CHECK(values.capacity == 10);
  CHECK(values.offset == 0);
  CHECK(values.type == ADRT_TYPE_F64);
  CHECK(std::string(values.formula) == "max(n, 0)");
  CHECK(std::string(values.place) == "fixture.ir:4:7");
  CHECK(steps.offset == 80);
  CHECK(steps.known == 1);
  adrt_stack_report report = {};
  report.struct_size = sizeof report;
  CHECK(adrt_plan_stack(plan.plan, 0, 2, &report, &plan.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_plan_stack(plan.plan, 1, 0, &report, &plan.error) == ADRT_ERROR_ARGUMENT);
}

TEST_CASE("there are no more rows than iterations, and none for a negative count", "[loader]") {
  Session session(8);
  Tape three(3, 10), none(0, 10), negative(100, -5);
  CHECK(Plan(session, "tape", three.Args()).Info().heap_bytes == 3 * 128);
  CHECK(Plan(session, "tape", none.Args()).Info().heap_bytes == 0);
  Plan plan(session, "tape", negative.Args());
  CHECK(plan.Info().heap_bytes == 0);
  CHECK(plan.Run() == ADRT_OK);
  CHECK(negative.y == std::vector<double>(100, 0.0));
}

TEST_CASE("sizes can be asked for without a device and without memory", "[loader]") {
  Session session;
  Tape tape(1000000, 64);
  std::vector<adrt_arg> args = tape.Args();
  args[0].data = args[1].data = nullptr;
  Plan plan(session, "tape", args, 0, false);
  REQUIRE(plan.status == ADRT_OK);
  CHECK(plan.Info().heap_bytes == 768);
  CHECK(plan.Run() == ADRT_ERROR_ARGUMENT);
  CHECK(plan.error.Says("without a module"));
}

TEST_CASE("a budget lowers the rows, down to one", "[loader]") {
  Session session(4);
  Tape tape(100, 10);
  for (uint64_t budget : {uint64_t{512}, uint64_t{511}, uint64_t{128}}) {
    Plan plan(session, "tape", tape.Args(), budget);
    REQUIRE(plan.status == ADRT_OK);
    CHECK(plan.Task(0).rows == budget / 128);
    CHECK(plan.Info().heap_bytes <= budget);
    std::fill(tape.y.begin(), tape.y.end(), -1.0);
    CHECK(plan.Run() == ADRT_OK);
    CHECK(tape.y[99] == Approx(std::accumulate(tape.y.begin(), tape.y.end(), 0.0) / 100));
    CHECK(tape.y[0] > 1);
  }
  Plan plan(session, "tape", tape.Args(), 127);
  CHECK(plan.status == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(plan.error.needed_bytes == 128);
  CHECK(plan.error.Says("128 suffice"));
}

TEST_CASE("memory of the caller must be large enough and aligned", "[loader]") {
  Session session(2);
  Tape tape(100, 10);
  Plan plan(session, "tape", tape.Args());
  alignas(64) unsigned char memory[320];
  adrt_run_desc run = RunDesc();
  run.memory = memory;
  run.memory_size = 255;
  CHECK(plan.Run(&run) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(plan.error.needed_bytes == 256);
  CHECK(plan.error.Says("256"));
  run.memory = memory + 8;
  run.memory_size = 256;
  CHECK(plan.Run(&run) == ADRT_ERROR_ARGUMENT);
  // Nothing outside of the stated bytes is written.
  std::memset(memory, 0xAB, sizeof memory);
  run.memory = memory;
  CHECK(plan.Run(&run) == ADRT_OK);
  for (size_t index = 256; index < sizeof memory; ++index) REQUIRE(memory[index] == 0xAB);
}

TEST_CASE("sizes that lie in buffers stay open until they are read", "[loader]") {
  Session session(2);
  Rows rows({1, 5, 0, 33, 2});
  Plan plan(session, "rows", rows.Args());
  REQUIRE(plan.status == ADRT_OK);
  CHECK(plan.Info().size_class == ADRT_CLASS_S2);
  CHECK(plan.Info().resolved == 0);
  CHECK(plan.Info().heap_bytes == 0);
  CHECK(adrt_plan_resolve(plan.plan, rows.x.data(), 4, &plan.error) == ADRT_ERROR_ARGUMENT);
  REQUIRE(adrt_plan_resolve(plan.plan, nullptr, 0, &plan.error) == ADRT_OK);
  CHECK(plan.Info().resolved == 1);
  CHECK(plan.Stack(0, 0).capacity == 33);
  CHECK(plan.Info().heap_bytes == 2 * 192);  // 33 f32, rounded up to 64 bytes, for two rows
  CHECK(plan.Run() == ADRT_OK);
  CHECK(rows.y == std::vector<float>{1, 5, 0, 33, 2});
}

TEST_CASE("what was read is read again, unless the caller vouches for it",
          "[loader][row:S2][row:C1][row:O6]") {
  Session session;
  Rows rows({1, 2, 3});
  Plan plan(session, "rows", rows.Args());
  CHECK(plan.Run() == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 3);
  rows.start = {0, 0, 0, 6};
  CHECK(plan.Run() == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 6);
  CHECK(rows.y == std::vector<float>{0, 0, 6});

  std::vector<adrt_arg> args = rows.Args();
  args[0].content_version = 1;
  Plan vouched(session, "rows", args);
  CHECK(vouched.Run() == ADRT_OK);
  rows.start = {0, 1, 2, 3};
  CHECK(vouched.Run() == ADRT_OK);
  CHECK(vouched.Stack(0, 0).capacity == 6);
  // A promise that is broken costs an error, not memory.
  rows.start = {0, 0, 0, 6};
  Rows small({1, 1, 1});
  args[0].data = small.start.data();
  args[0].content_version = 2;
  Plan broken(session, "rows", args);
  CHECK(broken.Run() == ADRT_OK);
  small.start = {0, 0, 0, 6};
  CHECK(broken.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
}

TEST_CASE("an index that lies about a buffer is an error, not a read", "[loader]") {
  Session session;
  Rows rows({1, 2, 3});
  std::vector<adrt_arg> args = rows.Args();
  args[0].extents[0] = 3;  // one short: row 2 would read start[3]
  Plan plan(session, "rows", args);
  CHECK(plan.Run() == ADRT_ERROR_ARGUMENT);
  CHECK(plan.error.Says("'start'"));
  CHECK(plan.error.Says("fixture.ir:4:9"));
}

TEST_CASE("sizes that do not fit 64 bits are errors", "[loader]") {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "tape") continue;
    adc::artifact::NodeId huge = kernel.exprs.Mul(kernel.exprs.Arg(2), kernel.exprs.Const(INT64_MAX / 4));
    kernel.tasks[0].plans[0].stacks[0].capacity = huge;
  }
  FinishMetadata(&metadata);
  Session session(1, MakeBundle(metadata, ReadImage()));
  for (int32_t n : {1, 3, 100}) {
    Tape tape(10, n);
    Plan plan(session, "tape", tape.Args());
    INFO(n << ": " << plan.error.text);
    CHECK(plan.status == ADRT_ERROR_SIZE_OVERFLOW);
    CHECK(plan.error.Says("64 bits"));
  }
}

TEST_CASE("a size budget stops sizes that take too long", "[loader]") {
  Session session;
  Rows rows(std::vector<int32_t>(1000, 1));
  std::vector<adrt_arg> args = rows.Args();
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.args = args.data();
  desc.arg_count = 3;
  desc.module = session.module;
  desc.size_budget = 2000;
  adrt_launch_plan* plan = nullptr;
  ErrorBox error;
  REQUIRE(adrt_plan(session.Kernel("rows"), &desc, &plan, &error) == ADRT_OK);
  CHECK(adrt_run(plan, nullptr, &error) == ADRT_ERROR_OVER_LIMIT);
  CHECK(error.Says("2000 steps"));
  adrt_plan_release(plan);
}

TEST_CASE("a size that only running tells needs a cap, and the cap is shared out", "[loader][row:O2]") {
  Session session(2);
  std::vector<uint32_t> x = {1, 6, 27, 97};
  auto args = [&] { return std::vector<adrt_arg>{BufferArg("x", ADRT_TYPE_U32, x.data(), {4})}; };
  Plan plan(session, "collatz", args());
  REQUIRE(plan.status == ADRT_OK);
  CHECK(plan.Info().resolved == 0);
  CHECK(plan.Stack(0, 0).known == 0);
  CHECK(std::string(plan.Stack(0, 0).formula) == "unknown");
  CHECK(plan.Run() == ADRT_ERROR_NEEDS_DEVICE_DATA);
  CHECK(plan.error.Says("adrt_plan_with_cap"));
  CHECK(plan.error.Says("fixture.ir:6:9"));

  REQUIRE(adrt_plan_with_cap(plan.plan, 1000, &plan.error) == ADRT_OK);
  CHECK(plan.Info().resolved == 1);
  CHECK(plan.Info().heap_bytes <= 1000);
  CHECK(plan.Stack(0, 0).capacity == 112);  // 1000 / 2 rows, in 64-byte lines, of u32
  CHECK(plan.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(plan.error.Says("needed at least 113 elements"));
  CHECK(plan.error.Says("has 112"));
  CHECK(plan.error.Says("fixture.ir:6:9"));
  CHECK(plan.error.Says("Raise the cap"));

  x = {1, 6, 27, 97};
  REQUIRE(adrt_plan_with_cap(plan.plan, 1024, &plan.error) == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 128);
  CHECK(plan.Run() == ADRT_OK);
  CHECK(x == std::vector<uint32_t>{0, 8, 111, 118});

  // A cap of one line runs with one row; less than that is an error that says what would do, and changes
  // nothing.
  REQUIRE(adrt_plan_with_cap(plan.plan, 64, &plan.error) == ADRT_OK);
  CHECK(plan.Task(0).rows == 1);
  CHECK(adrt_plan_with_cap(plan.plan, 63, &plan.error) == ADRT_ERROR_HEAP_TOO_SMALL);
  CHECK(plan.error.needed_bytes == 64);
  CHECK(plan.Stack(0, 0).capacity == 16);
  CHECK(adrt_plan_with_cap(plan.plan, 0, &plan.error) == ADRT_ERROR_ARGUMENT);
}

TEST_CASE("a cap keeps sizes from being read", "[loader]") {
  Session session;
  Rows rows({1, 5, 40});
  std::vector<adrt_arg> args = rows.Args();
  Plan plan(session, "rows", args);
  REQUIRE(adrt_plan_with_cap(plan.plan, 128, &plan.error) == ADRT_OK);
  CHECK(plan.Stack(0, 0).capacity == 32);
  CHECK(plan.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
  CHECK(plan.error.Says("iteration 2"));
  REQUIRE(adrt_plan_with_cap(plan.plan, 192, &plan.error) == ADRT_OK);
  CHECK(plan.Run() == ADRT_OK);
  CHECK(rows.y == std::vector<float>{1, 5, 40});
}

TEST_CASE("stacks that never live at once share their bytes", "[loader]") {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    if (kernel.name != "tape") continue;
    adc::artifact::Vector<adc::artifact::StackMeta>& stacks = kernel.tasks[0].plans[0].stacks;
    stacks[0].share = 7;
    adc::artifact::StackMeta third = stacks[1];
    third.id = 2;
    third.share = 7;
    third.capacity = kernel.exprs.Mul(kernel.exprs.Arg(2), kernel.exprs.Const(4));
    stacks.push_back(third);
  }
  FinishMetadata(&metadata);
  Session session(1, MakeBundle(metadata, ReadImage()));
  Tape tape(10, 10);
  Plan plan(session, "tape", tape.Args());
  REQUIRE(plan.status == ADRT_OK);
  // The first and the third take the larger of 10 f64 and 40 i32; the second follows.
  CHECK(plan.Stack(0, 0).offset == 0);
  CHECK(plan.Stack(0, 2).offset == 0);
  CHECK(plan.Stack(0, 1).offset == 160);
  CHECK(plan.Info().heap_bytes == 256);
}

TEST_CASE("a size kernel counts what no expression says", "[loader]") {
  for (uint32_t workers : {1u, 3u}) {
    Session session(workers);
    std::vector<uint32_t> x = {1, 6, 27, 97};
    Plan plan(session, "counted", {BufferArg("x", ADRT_TYPE_U32, x.data(), {4})});
    REQUIRE(plan.status == ADRT_OK);
    CHECK(plan.Info().resolved == 0);
    INFO(plan.error.text);
    REQUIRE(plan.Run() == ADRT_OK);
    CHECK(x == std::vector<uint32_t>{0, 8, 111, 118});
    CHECK(plan.Stack(0, 0).capacity == 118);
    // Counted anew at each launch, since the buffer says something else by now.
    REQUIRE(plan.Run() == ADRT_OK);
    CHECK(plan.Stack(0, 0).capacity == 69);  // 111 takes the longest
    // A cap replaces counting.
    x = {1, 6, 27, 97};
    REQUIRE(adrt_plan_with_cap(plan.plan, 64 * workers, &plan.error) == ADRT_OK);
    CHECK(plan.Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
    // What a capped launch takes is known before it, and the caller's memory is enough for it.
    CHECK(plan.Info().resolved == 1);
    CHECK(plan.Info().heap_bytes == 64 * workers);
    alignas(64) unsigned char memory[3 * 512];
    adrt_run_desc desc = RunDesc();
    desc.memory = memory;
    desc.memory_size = 64 * workers - 1;
    CHECK(plan.Run(&desc) == ADRT_ERROR_HEAP_TOO_SMALL);
    REQUIRE(adrt_plan_with_cap(plan.plan, 512 * workers, &plan.error) == ADRT_OK);
    x = {1, 6, 27, 97};
    desc.memory_size = 512 * workers;
    CHECK(plan.Run(&desc) == ADRT_OK);
    CHECK(x == std::vector<uint32_t>{0, 8, 111, 118});
  }
}

TEST_CASE("a larger cap gives no stack less", "[loader]") {
  for (uint32_t workers : {1u, 3u}) {
    Session session(workers);
    std::vector<uint32_t> x = {1, 6, 27, 97};
    Plan plan(session, "counted", {BufferArg("x", ADRT_TYPE_U32, x.data(), {4})});
    uint64_t before = 0;
    for (uint64_t cap = 64; cap < 3000; cap += 24) {
      REQUIRE(adrt_plan_with_cap(plan.plan, cap, &plan.error) == ADRT_OK);
      uint64_t capacity = plan.Stack(0, 0).capacity;
      CHECK(capacity >= before);
      before = capacity;
    }
    CHECK(before >= 118);
  }
}

TEST_CASE("passes are supposed of plans without a module alone", "[loader]") {
  Session session(1);
  std::vector<uint32_t> x = {1, 6, 27, 97};
  Plan plan(session, "counted", {BufferArg("x", ADRT_TYPE_U32, x.data(), {4})});
  REQUIRE(plan.status == ADRT_OK);
  CHECK(adrt_plan_assume(plan.plan, 0, 0, 1, &plan.error) == ADRT_ERROR_ARGUMENT);
  CHECK(std::string(plan.error.text).find("counts for itself") != std::string::npos);
  CHECK(adrt_plan_assume(plan.plan, 9, 0, 1, &plan.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_plan_assume(plan.plan, 0, 9, 1, &plan.error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_plan_assume(nullptr, 0, 0, 1, nullptr) == ADRT_ERROR_ARGUMENT);
}

TEST_CASE("a size kernel that does not fit the kernel it sizes is refused", "[loader]") {
  using adc::artifact::KernelMeta;
  auto refused = [](void (*change)(KernelMeta& size)) {
    adc::artifact::Metadata metadata = MakeMetadata();
    for (KernelMeta& kernel : metadata.kernels) {
      if (kernel.name == "counted.size0") change(kernel);
    }
    FinishMetadata(&metadata);
    adc::artifact::Error error;
    adc::artifact::String json;
    bool written = WriteMetadata(metadata, &json, &error);
    CHECK((written || error.message().find("counted.size0") != std::string_view::npos));
    return !written;
  };
  CHECK_FALSE(refused([](KernelMeta&) {}));
  CHECK(refused([](KernelMeta& size) { size.params.pop_back(); }));
  CHECK(refused([](KernelMeta& size) { size.params[0].rank = 2; }));
  CHECK(refused([](KernelMeta& size) { size.params[1].type = adc::artifact::ScalarType::kI32; }));
  CHECK(refused([](KernelMeta& size) { size.role = adc::artifact::KernelRole::kJvp; }));
  CHECK(refused([](KernelMeta& size) { size.tasks[0].entries.clear(); }));
  CHECK(refused([](KernelMeta& size) { size.tasks[0].size_kernel = "counted.size0"; }));
}

#include <atomic>
#include <chrono>
#include <thread>

#include "cuda/ptx_parts.h"
#include "cuda_session.h"

// What the driver's compiler gets of a bundle's PTX, and when: a kernel, at its first plan.

using namespace fixture;

namespace {

std::vector<std::string> EntriesIn(const std::string& text) {
  std::vector<std::string> names;
  const std::string word = ".entry ";
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    at += word.size();
    names.push_back(text.substr(at, text.find('(', at) - at));
  }
  return names;
}

adrt_status PlanTape(StreamSession& session, adrt_launch_plan** plan) {
  static double values[4] = {};
  static int32_t steps = 2;
  return session.Plan("tape",
                      {BufferArg("x", ADRT_TYPE_F64, values, {4}),
                       BufferArg("y", ADRT_TYPE_F64, values + 4, {4}), ScalarArg("n", ADRT_TYPE_I32, &steps)},
                      plan);
}

adrt_status PlanMean(StreamSession& session, adrt_launch_plan** plan) {
  static float values[8] = {};
  return session.Plan(
      "mean", {BufferArg("x", ADRT_TYPE_F32, values, {4}), BufferArg("y", ADRT_TYPE_F32, values + 4, {4})},
      plan);
}

using Entries = std::vector<std::string>;

}  // namespace

TEST_CASE("the driver gets the code of the kernels that are planned, once each", "[loader][cuda]") {
  FakeCuda fake;
  {
    StreamSession session;
    session.Must(Load(session, fake, MakeCudaBundle()));
    CHECK(fake.compiled.empty());
    adrt_launch_plan* plan = nullptr;
    for (int turn = 0; turn < 3; ++turn) session.Must(PlanMean(session, &plan));
    REQUIRE(fake.compiled.size() == 1);
    CHECK(EntriesIn(fake.compiled[0]) == Entries{"adc_mean_t0", "adc_mean_t1"});
    CHECK(fake.compiled[0].find(".version 6.0\n") == 0);
    CHECK(fake.compiled[0].find(".target sm_70\n") != std::string::npos);
    CHECK(fake.modules.size() == 1);
    session.Must(PlanTape(session, &plan));
    REQUIRE(fake.compiled.size() == 2);
    CHECK(EntriesIn(fake.compiled[1]) == Entries{"adc_tape_t0"});
    CHECK(fake.modules.size() == 2);
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("the kernel that counts for a planned one is compiled with it", "[loader][cuda]") {
  FakeCuda fake;
  StreamSession session;
  session.Must(Load(session, fake, MakeCudaBundle()));
  uint32_t x[40] = {};
  adrt_launch_plan* plan = nullptr;
  session.Must(session.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, x, {40})}, &plan));
  REQUIRE(fake.compiled.size() == 2);
  CHECK(EntriesIn(fake.compiled[0]) == Entries{"adc_counted_t0"});
  CHECK(EntriesIn(fake.compiled[1]) == Entries{"adc_counted_2Esize0_t0"});
}

TEST_CASE("threads that plan the same kernel compile it once", "[loader][cuda]") {
  FakeCuda fake;
  StreamSession session;
  session.Must(Load(session, fake, MakeCudaBundle()));
  std::atomic<int> compiling{0}, together{0};
  fake.while_compiling = [&] {
    int now = ++compiling;
    if (now > together) together = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --compiling;
  };
  constexpr int kThreads = 4;
  adrt_status statuses[kThreads] = {};
  {
    std::vector<std::thread> threads;
    for (int number = 0; number < kThreads; ++number) {
      threads.emplace_back([&, number] {
        const adrt_kernel* kernel = nullptr;
        adrt_launch_plan* plan = nullptr;
        float values[8] = {};
        std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, values, {4}),
                                      BufferArg("y", ADRT_TYPE_F32, values + 4, {4})};
        adrt_plan_desc desc = {};
        desc.struct_size = sizeof desc;
        desc.args = args.data();
        desc.arg_count = 2;
        desc.module = session.module;
        statuses[number] = adrt_bundle_find_kernel(session.bundle, "mean", 0, &kernel, nullptr);
        if (statuses[number] == ADRT_OK) statuses[number] = adrt_plan(kernel, &desc, &plan, nullptr);
        adrt_plan_release(plan);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (adrt_status status : statuses) CHECK(status == ADRT_OK);
  CHECK(fake.compiled.size() == 1);
  CHECK(together == 1);
  CHECK(fake.broken.empty());
}

TEST_CASE("code that the driver refuses is an error of that kernel's plans alone", "[loader][cuda]") {
  FakeCuda fake;
  fake.compile_log = "ptxas application ptx input, line 7; error : Unknown symbol 'foo'";
  fake.faulty = "adc_mean_t0";
  {
    StreamSession session;
    session.Must(Load(session, fake, MakeCudaBundle()));
    adrt_launch_plan* plan = nullptr;
    for (size_t turn = 1; turn < 3; ++turn) {
      CHECK(PlanMean(session, &plan) == ADRT_ERROR_DRIVER);
      CHECK(session.error.native_code == 218);
      CHECK(session.error.Says("kernel 'mean': cuModuleLoadDataEx failed"));
      CHECK(session.error.Says("Unknown symbol 'foo'"));
      CHECK(session.error.section != 0xFFFFFFFFu);
      CHECK(fake.compiled.size() == turn);
    }
    session.Must(PlanTape(session, &plan));
    fake.compile_log.clear();
    session.Must(PlanMean(session, &plan));
    CHECK(fake.modules.size() == 2);
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("a part of PTX has what its entries use, in the text's order", "[loader][cuda]") {
  const std::string text = R"(//
.version 7.2  // adc_a
.target sm_80
.address_size 64
	// .globl	adc_a
.func  (.param .b64 func_retval0) helper
(
	.param .b64 helper_param_0
)
;
.func deep ()
;
.global .align 1 .b8 table[4] = {1, 2, 3, 4};
.shared .align 4 .b8 sums_b[512];
/* adc_b { */
.visible .entry adc_a(
	.param .u64 adc_a_param_0
)
.reqntid 128, 1, 1
{
	{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }
	.pragma "adc_b }";
	call.uni (retval0), helper, (param0);
	ret;
}
	// .globl	adc_b
.visible .entry adc_b()
{
	mov.u32 %r1, sums_b;
	ret;
}
.func  (.param .b64 func_retval0) helper(
	.param .b64 helper_param_0
)
{
	mov.u64 %rd1, generic(table+3);
	call.uni deep, ();
}
.func deep () { ret; }
.func unused () { ret; }
	.section	.debug_loc	{	}
	.file	1 "./k {.ir"
)";
  adrt::PtxParts parts(nullptr);
  REQUIRE(parts.Cut(text));
  auto part = [&](std::vector<const char*> names) {
    adrt::PtxPart made(parts, nullptr);
    adrt::Vector<uint8_t> bytes;
    REQUIRE(made.Begin());
    for (const char* name : names) REQUIRE(made.Take(name));
    REQUIRE(made.Write(&bytes));
    REQUIRE(bytes.back() == 0);
    return std::string(reinterpret_cast<const char*>(bytes.data()));
  };
  const std::string begin = ".version 7.2  // adc_a\n\n.target sm_80\n\n.address_size 64\n\n",
                    end = ".section\t.debug_loc\t{\t}\n.file\t1 \"./k {.ir\"\n\n";
  auto piece = [&](const char* from, const char* to) {
    size_t first = text.find(from), last = text.find(to, first) + std::string(to).size();
    return text.substr(first, last - first) + "\n";
  };
  CHECK(part({}) == begin + end);
  CHECK(part({"adc_b"}) == begin + piece(".shared", ";") + piece(".visible .entry adc_b", "\n}") + end);
  CHECK(part({"adc_a"}) == begin + piece(".func  (", "\n;") + piece(".func deep ()\n", ";") +
                               piece(".global", ";") + piece(".visible .entry adc_a", "\n}") +
                               piece(".func  (.param .b64 func_retval0) helper(", "\n}") +
                               piece(".func deep () {", "}") + end);
  CHECK(part({"adc_b", "adc_a", "nothing"}).find("unused") == std::string::npos);
}

TEST_CASE("a text that is no PTX is cut all the same", "[loader][cuda]") {
  for (std::string text :
       {"", " ", "}", "{{{", ".entry", "/*", "//", "\"", ".version", "a = {", "a = {} b", ")))};x;"}) {
    adrt::PtxParts parts(nullptr);
    REQUIRE(parts.Cut(text));
    adrt::PtxPart made(parts, nullptr);
    adrt::Vector<uint8_t> bytes;
    REQUIRE((made.Begin() && made.Take("a") && made.Take("x") && made.Write(&bytes)));
    INFO(text);
    CHECK(bytes.back() == 0);
    CHECK(bytes.size() <= text.size() + 4);
  }
}

#include <cstring>

#include "cuda_session.h"

// A status block is memory that code writes, and code may be a stranger's: whatever it holds is reported, no
// size in it is believed, and the next launch is as any other.

using namespace fixture;

namespace {

struct Random {
  uint64_t state;
  uint32_t Below(uint32_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33) % bound;
  }
  /// Codes, small indices, and the ends of all ranges.
  uint32_t Word() {
    constexpr uint32_t kEnds[] = {0x7FF,      0xFFF,      0x1000,     0x100006,
                                  0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
    uint32_t kind = Below(8);
    if (kind < 5) return Below(10);
    return kind < 7 ? kEnds[Below(8)] : Below(UINT32_MAX);
  }
};

bool IsReport(adrt_status status) {
  return (status >= ADRT_ERROR_ADSTACK_OVERFLOW && status <= ADRT_ERROR_ROWS_EXHAUSTED) ||
         status == ADRT_ERROR_ARGUMENT || status == ADRT_ERROR_DRIVER;
}

void CheckReported(const adrt_launch_plan* plan, uint32_t count) {
  Random random{count};
  for (uint32_t number = 0; number < count; ++number) {
    uint32_t words[ADRT_STATUS_BYTES / 4];
    for (uint32_t& word : words) word = random.Word();
    ErrorBox error;
    adrt_status status = adrt_status_read(plan, words, &error);
    INFO(error.text);
    REQUIRE((words[0] == 0 ? status == ADRT_OK : IsReport(status)));
    REQUIRE(std::memchr(error.text, 0, sizeof error.text) != nullptr);
    REQUIRE((status == ADRT_OK || error.text[0] != 0));
    // Without a place for the text as well.
    REQUIRE(adrt_status_read(plan, words, nullptr) == status);
  }
}

}  // namespace

TEST_CASE("a status block of any content is reported and changes nothing", "[loader][status]") {
  constexpr uint32_t kBlocks = 4000;
  SECTION("of a processor, and without a module") {
    Session session;
    double x[4] = {1, 2, 3, 4}, y[4] = {};
    int32_t n = 3;
    for (bool with_module : {true, false}) {
      Plan plan(session, "tape",
                {BufferArg("x", ADRT_TYPE_F64, x, {4}), BufferArg("y", ADRT_TYPE_F64, y, {4}),
                 ScalarArg("n", ADRT_TYPE_I32, &n)},
                0, with_module);
      REQUIRE(plan.status == ADRT_OK);
      adrt_plan_report before = plan.Info();
      CheckReported(plan.plan, kBlocks);
      CHECK(plan.Info().heap_bytes == before.heap_bytes);
      if (with_module) CHECK(plan.Run() == ADRT_OK);
    }
  }
  SECTION("written by code on a device") {
    FakeCuda fake;
    StreamSession device;
    device.Must(Load(device, fake, MakeCudaBundle()));
    TapeArgs tape(100, 4);
    adrt_launch_plan *tapes = nullptr, *check = nullptr;
    device.Must(device.Plan("tape", tape.Make(device), &tapes));
    CheckReported(tapes, kBlocks);
    adrt_status status = ADRT_OK;
    std::vector<float> x(6, 1.0f), m(4, 1.0f);
    adrt_memory* memory = device.Upload(x, &status);
    int8_t k = -3, flag = 1;
    uint16_t u = 1;
    uint32_t code = 0;
    adrt_arg matrix = ScalarArg("m", ADRT_TYPE_F32, m.data());
    matrix.rows = matrix.columns = 2;
    std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(memory), {2, 3}),
                                  matrix,
                                  ScalarArg("k", ADRT_TYPE_I8, &k),
                                  ScalarArg("u", ADRT_TYPE_U16, &u),
                                  ScalarArg("flag", ADRT_TYPE_I1, &flag),
                                  ScalarArg("code", ADRT_TYPE_U32, &code)};
    device.Must(device.Plan("check", args, &check));
    for (code = kNonsense; code < kNonsense + 500; ++code) {
      adrt_arg seed = ScalarArg("code", ADRT_TYPE_U32, &code);
      device.Must(adrt_plan_update(check, &seed, 1, &device.error));
      uint32_t block[16] = {};
      adrt_run_desc run = RunDesc();
      run.status = block;
      status = adrt_run(check, &run, &device.error);
      REQUIRE((block[0] == 0 ? status == ADRT_OK : IsReport(status)));
      uint64_t live = PlanReport(check).heap_bytes;
      CHECK(live == 0);
    }
    // No device, and no launch, is the worse for it.
    tape.n = 4;
    device.Must(adrt_run(tapes, nullptr, &device.error));
    tape.Check(device);
    CHECK(fake.broken.empty());
  }
}

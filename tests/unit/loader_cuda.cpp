#include <cstdlib>

#include "cuda_session.h"

// The loader's CUDA part over a driver that runs on the host: devices, code, contexts, and calls that fail.

using namespace fixture;

TEST_CASE("a CUDA device says what it is and judges targets", "[loader][cuda]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  adrt_device_report report = {};
  report.struct_size = sizeof report;
  device.Must(adrt_device_info(device.device, &report, &device.error));
  CHECK(std::string(report.kind) == "cuda");
  CHECK(std::string(report.arch) == "sm_80");
  CHECK(std::string(report.name) == "Fake 40");
  CHECK(std::string(report.features) == "ptx84");
  CHECK(report.worker_count == 2 * 1024);
  adrt_target_report targets[3] = {};
  for (adrt_target_report& target : targets) target.struct_size = sizeof target;
  uint32_t count = 0;
  device.Must(adrt_bundle_query_targets(device.bundle, device.device, targets, 3, &count, &device.error));
  REQUIRE(count == 3);
  CHECK(targets[0].verdict == ADRT_TARGET_REFUSED);
  CHECK(targets[2].verdict == ADRT_TARGET_CHOSEN);
  CHECK(fake.broken.empty());
}

TEST_CASE("code that a CUDA device or its driver cannot run is refused with the reason", "[loader][cuda]") {
  struct Case {
    const char *version, *arch, *name;
    int driver;
    adrt_status status;
    const char* says;
  };
  for (const Case& one : {
           Case{"6.0", "sm_90", "cuda:sm_90", 12040, ADRT_ERROR_NO_TARGET,
                "is for sm_90, the device is sm_80"},
           Case{"6.0", "sm_75a", "cuda:sm_75a", 12040, ADRT_ERROR_NO_TARGET, "is for sm_75a"},
           Case{"6.0", "gfx90a", "cuda:gfx90a", 12040, ADRT_ERROR_NO_TARGET, "no architecture"},
           Case{"8.5", "sm_80", "cuda:sm_80", 12040, ADRT_ERROR_DEVICE_FEATURE,
                "the code is PTX 8.5, and this driver reads PTX up to 8.4"},
           Case{"7.5", "sm_80", "cuda:sm_80:ptx75", 11040, ADRT_ERROR_NO_TARGET, "up to 7.4"},
           Case{"6.4", "sm_70", "cuda:sm_70", 10000, ADRT_ERROR_DEVICE_FEATURE, "up to 6.3"},
           Case{"8.4", "sm_80", "cuda:sm_80:ptx84", 12040, ADRT_OK, ""},
           Case{"8.5", "sm_80", "cuda:sm_80:ptx85", 12060, ADRT_OK, ""},
           Case{"6.0", "sm_80", "cuda:sm_80", 13000, ADRT_OK, ""},
       }) {
    FakeCuda fake;
    fake.driver_version = one.driver;
    {
      StreamSession device;
      INFO(one.name << " on driver " << one.driver);
      CHECK(Load(device, fake, MakeCudaBundle(one.version, one.arch, one.name)) == one.status);
      INFO(device.error.text);
      CHECK((one.status == ADRT_OK || device.error.Says(one.says)));
    }
    CHECK(fake.IsClean());
    CHECK(fake.broken.empty());
  }
}

TEST_CASE("wrapping takes the given context, or the current one; opening takes a number", "[loader][cuda]") {
  FakeCuda fake;
  adrt_host host = TrustingHost();
  adrt_cuda_desc desc = fake.Desc();
  ErrorBox error;
  adrt_device* device = nullptr;
  desc.context = nullptr;
  CHECK(adrt_device_wrap_cuda(&host, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("no context is given"));
  fake.context_stack.push_back(fake.context());
  REQUIRE(adrt_device_wrap_cuda(&host, &desc, &device, &error) == ADRT_OK);
  adrt_device_release(device);
  CHECK(fake.context_stack.size() == 1);
  fake.context_stack.clear();
  desc.index = 1;
  CHECK(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_ERROR_NOT_FOUND);
  CHECK(error.Says("no device 1: there are 1"));
  desc.index = 0;
  REQUIRE(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_OK);
  CHECK(fake.primary == 1);
  adrt_device_release(device);
  CHECK(fake.IsClean());
  fake.missing = "cuMemAlloc_v2";
  CHECK(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_ERROR_DRIVER);
  CHECK(error.Says("cuMemAlloc_v2"));
  desc.struct_size = 0;
  CHECK(adrt_device_open_cuda(&host, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(fake.broken.empty());
}

TEST_CASE("the caller's current context is what it was after every call", "[loader][cuda]") {
  FakeCuda fake;
  int other = 0;
  fake.context_stack.push_back(&other);
  {
    StreamSession device;
    device.Must(Load(device, fake, MakeCudaBundle()));
    TapeArgs tape(100, 5);
    adrt_launch_plan* plan = nullptr;
    device.Must(device.Plan("tape", tape.Make(device), &plan));
    device.Must(adrt_run(plan, nullptr, &device.error));
    tape.Check(device);
    CHECK(fake.context_stack == std::vector<void*>{&other});
  }
  CHECK(fake.context_stack == std::vector<void*>{&other});
  CHECK(fake.broken.empty());
}

TEST_CASE("a device without room says what was asked and what would fit", "[loader][cuda]") {
  FakeCuda fake;
  fake.memory_bytes = 20000;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  TapeArgs tape(1000, 7);
  tape.x.resize(200);
  tape.y.resize(200);
  adrt_launch_plan* plan = nullptr;
  device.Must(device.Plan("tape", tape.Make(device), &plan));
  CHECK(adrt_run(plan, nullptr, &device.error) == ADRT_ERROR_OUT_OF_DEVICE_MEMORY);
  CHECK(device.error.native_code == 2);
  CHECK(device.error.needed_bytes == 224 * 88);
  CHECK(device.error.Says("cannot allocate 19712 bytes: 16800 of its 20000 bytes are free"));
  CHECK(fake.broken.empty());
}

TEST_CASE("a CUDA device survives every refusal of the host's memory", "[loader][cuda]") {
  struct Refusing {
    long calls = 0, refuse_at = 0, held = 0;
  };
  std::vector<uint8_t> file = MakeCudaBundle();
  long refusals = 0;
  for (long at = 1;; ++at) {
    FakeCuda fake;
    Refusing allocator;
    allocator.refuse_at = at;
    adrt_host host = TrustingHost();
    host.user = &allocator;
    host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
      Refusing& own = *static_cast<Refusing*>(user);
      if (++own.calls == own.refuse_at) return nullptr;
      ++own.held;
      return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    };
    host.release = [](void* user, void* memory, size_t, size_t) {
      --static_cast<Refusing*>(user)->held;
      std::free(memory);
    };
    adrt_status status = ADRT_OK;
    {
      StreamSession device;
      auto work = [&] {
        adrt_status done = Load(device, fake, file, true, host);
        if (done != ADRT_OK) return done;
        std::vector<int32_t> start = {0, 1, 6};
        std::vector<float> floats(6, 1.0f);
        adrt_memory* s = device.Upload(start, &done);
        adrt_memory* x = done == ADRT_OK ? device.Upload(floats, &done) : nullptr;
        adrt_memory* y = done == ADRT_OK ? device.Upload(floats, &done) : nullptr;
        adrt_launch_plan* plan = nullptr;
        if (done == ADRT_OK) {
          done = device.Plan("rows",
                             {BufferArg("start", ADRT_TYPE_I32, adrt_memory_data(s), {3}),
                              BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {6}),
                              BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {2})},
                             &plan);
        }
        if (done == ADRT_OK) done = adrt_run(plan, nullptr, &device.error);
        if (done == ADRT_OK)
          done = device.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(s), {3})}, &plan);
        return done == ADRT_OK ? adrt_run(plan, nullptr, &device.error) : done;
      };
      status = work();
      INFO("allocation " << at << ": " << device.error.text);
      REQUIRE((status == ADRT_OK || status == ADRT_ERROR_OUT_OF_HOST_MEMORY));
    }
    REQUIRE(allocator.held == 0);
    REQUIRE(fake.IsClean());
    REQUIRE(fake.broken.empty());
    if (status == ADRT_OK) break;
    ++refusals;
  }
  CHECK(refusals > 100);
}

TEST_CASE("every call of the CUDA driver may fail", "[loader][cuda]") {
  std::vector<uint8_t> file = MakeCudaBundle();
  // Without a context nothing can be given back: one that cannot be entered takes all with it.
  auto moves = [](const std::string& call) { return call == "cuCtxPushCurrent"; };
  auto ends = [](const std::string& call) {
    return call == "cuCtxPopCurrent" || call == "cuMemFree" || call == "cuModuleUnload" ||
           call == "cuStreamDestroy" || call == "cuDevicePrimaryCtxRelease";
  };
  for (bool open : {false, true}) {
    auto work = [&](FakeCuda& fake, StreamSession& session) {
      adrt_status status = Load(session, fake, file, open);
      return status != ADRT_OK ? status : WorkOfAllKinds(session, adrt_record_cuda);
    };
    for (const DriverFailure& failure : kDriverFailures)
      FailEveryCall<FakeCuda>(failure, "cuMemAlloc", work, ends, moves);
  }
}

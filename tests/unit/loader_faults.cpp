#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "cuda_session.h"
#include "launch_faults.h"

// Faults that a program lives through: every call of a driver that fails while launches run, a device that is
// late or lost in the middle, memory that is refused, threads that the system does not give, job systems that
// are slow, odd or wrong. After each the program goes on with the same handles, unless the device is lost,
// the next launch is right, and nothing is left behind.

using namespace fixture;

// The loader's threads are made by this one. Sanitizers have their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ADC_NO_THREAD_REFUSAL 1
#endif
#endif
#if !defined(ADC_NO_THREAD_REFUSAL)
namespace {

/// Makes the calling program's pthread_create fail: the n-th from now on; 0: none.
std::atomic<long> refuse_thread{0};

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*start)(void*), void* argument) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (refuse_thread > 0 && --refuse_thread == 0) return EAGAIN;
  return real(thread, attributes, start, argument);
}
#endif

TEST_CASE("CUDA launches go on after each fault, late or lost", "[loader][faults]") {
  std::vector<uint8_t> file = MakeCudaBundle();
  LaunchThroughFaults<FakeCuda>(
      [&](StreamSession& session, FakeCuda& fake) { return Load(session, fake, file); },
      [](const std::string& call) { return call == "cuCtxPushCurrent"; });
}

TEST_CASE("a plan goes on where the host's memory was refused", "[loader][faults]") {
  struct Refusing {
    long calls = 0, refuse_at = 0, held = 0;
  } memory;
  adrt_host host = TrustingHost();
  host.user = &memory;
  host.allocate = [](void* user, size_t size, size_t alignment) -> void* {
    Refusing& own = *static_cast<Refusing*>(user);
    if (++own.calls == own.refuse_at) return nullptr;
    ++own.held;
    return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  };
  host.release = [](void* user, void* place, size_t, size_t) {
    --static_cast<Refusing*>(user)->held;
    std::free(place);
  };
  std::vector<uint8_t> file = MakeBundle();
  long refusals = 0;
  for (long at = 1;; ++at) {
    adrt_bundle* bundle = nullptr;
    adrt_device* device = nullptr;
    adrt_module* module = nullptr;
    adrt_launch_plan* plan = nullptr;
    const adrt_kernel* kernel = nullptr;
    ErrorBox error;
    REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) == ADRT_OK);
    REQUIRE(adrt_device_open_cpu(&host, 2, &device, &error) == ADRT_OK);
    REQUIRE(adrt_module_load(device, bundle, &module, &error) == ADRT_OK);
    REQUIRE(adrt_bundle_find_kernel(bundle, "counted", 0, &kernel, &error) == ADRT_OK);
    std::vector<uint32_t> x(50, 3), more(50, 27);
    adrt_arg arg = BufferArg("x", ADRT_TYPE_U32, x.data(), {50});
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = &arg;
    desc.arg_count = 1;
    desc.module = module;
    REQUIRE(adrt_plan(kernel, &desc, &plan, &error) == ADRT_OK);
    // A launch, other arguments, a cap that is too small, a launch that takes more.
    auto work = [&] {
      x.assign(50, 3);
      more.assign(50, 27);
      arg.data = x.data();
      adrt_status status = adrt_plan_update(plan, &arg, 1, &error);
      if (status == ADRT_OK) status = adrt_run(plan, nullptr, &error);
      arg.data = more.data();
      if (status == ADRT_OK) status = adrt_plan_update(plan, &arg, 1, &error);
      return status == ADRT_OK ? adrt_run(plan, nullptr, &error) : status;
    };
    memory.calls = 0;
    memory.refuse_at = at;
    adrt_status status = work();
    bool refused = memory.calls >= at;
    memory.refuse_at = 0;
    INFO("allocation " << at << ": " << error.text);
    REQUIRE(status == (refused ? ADRT_ERROR_OUT_OF_HOST_MEMORY : ADRT_OK));
    REQUIRE(work() == ADRT_OK);
    REQUIRE(x == std::vector<uint32_t>(50, 7));
    REQUIRE(more == std::vector<uint32_t>(50, 111));
    adrt_plan_release(plan);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
    REQUIRE(memory.held == 0);
    if (!refused) break;
    ++refusals;
  }
  CHECK(refusals > 3);
}

#if !defined(ADC_NO_THREAD_REFUSAL)
TEST_CASE("a pool that gets no threads says so, and the next one works", "[loader][faults]") {
  adrt_host host = TrustingHost();
  constexpr uint32_t kWorkers = 5;
  for (long refused = 1; refused < kWorkers; ++refused) {
    adrt_device* device = nullptr;
    ErrorBox error;
    refuse_thread = refused;
    CHECK(adrt_device_open_cpu(&host, kWorkers, &device, &error) == ADRT_ERROR_DRIVER);
    INFO(error.text);
    CHECK(refuse_thread == 0);
    CHECK(device == nullptr);
    CHECK(error.native_code == EAGAIN);
    CHECK(error.Says(("refused thread " + std::to_string(refused) + " of 4").c_str()));
    Session session(kWorkers);
    std::vector<double> x(100, 0.5), y(100, -1);
    int32_t n = 3;
    Plan plan(session, "tape",
              {BufferArg("x", ADRT_TYPE_F64, x.data(), {100}), BufferArg("y", ADRT_TYPE_F64, y.data(), {100}),
               ScalarArg("n", ADRT_TYPE_I32, &n)});
    CHECK(plan.Run() == ADRT_OK);
    CHECK(y == std::vector<double>(100, 0.5 + 2 * 0.25));
  }
}
#endif

namespace {

using Job = void (*)(void* context, uint32_t index);

/// A job system that does what `way` says.
struct JobSystem {
  enum Way { kInOrder, kBackwards, kLate, kDropsLast, kDropsAll } way = kInOrder;

  adrt_cpu_jobs Jobs(uint32_t workers) {
    adrt_cpu_jobs jobs = {};
    jobs.struct_size = sizeof jobs;
    jobs.worker_count = workers;
    jobs.user = this;
    jobs.parallel_for = [](void* user, uint32_t count, Job job, void* context) {
      static_cast<JobSystem*>(user)->Run(count, job, context);
    };
    return jobs;
  }
  void Run(uint32_t count, Job job, void* context) {
    switch (way) {
      case kInOrder:
        for (uint32_t index = 0; index < count; ++index) job(context, index);
        return;
      case kBackwards:
        for (uint32_t index = count; index-- > 0;) job(context, index);
        return;
      case kLate: {
        // Each on a thread that begins when the one before is nearly done.
        std::vector<std::thread> threads;
        for (uint32_t index = 0; index < count; ++index) {
          threads.emplace_back([=] {
            std::this_thread::sleep_for(std::chrono::milliseconds(index));
            job(context, index);
          });
        }
        for (std::thread& thread : threads) thread.join();
        return;
      }
      case kDropsLast:
        for (uint32_t index = 0; index + 1 < count; ++index) job(context, index);
        return;
      case kDropsAll:
        return;
    }
  }
};

}  // namespace

TEST_CASE("job systems may be late and odd, and those that drop jobs are found out", "[loader][faults]") {
  std::vector<uint8_t> file = MakeBundle();
  JobSystem system;
  adrt_cpu_jobs jobs = system.Jobs(4);
  adrt_host host = TrustingHost();
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  adrt_launch_plan* plan = nullptr;
  const adrt_kernel* kernel = nullptr;
  ErrorBox error;
  REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) == ADRT_OK);
  REQUIRE(adrt_device_wrap_cpu(&host, &jobs, &device, &error) == ADRT_OK);
  REQUIRE(adrt_module_load(device, bundle, &module, &error) == ADRT_OK);
  REQUIRE(adrt_bundle_find_kernel(bundle, "tape", 0, &kernel, &error) == ADRT_OK);
  std::vector<double> x(100, 0.5), y(100, -1);
  int32_t n = 3;
  adrt_arg args[] = {BufferArg("x", ADRT_TYPE_F64, x.data(), {100}),
                     BufferArg("y", ADRT_TYPE_F64, y.data(), {100}), ScalarArg("n", ADRT_TYPE_I32, &n)};
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = 3;
  desc.module = module;
  REQUIRE(adrt_plan(kernel, &desc, &plan, &error) == ADRT_OK);
  for (JobSystem::Way way : {JobSystem::kInOrder, JobSystem::kDropsAll, JobSystem::kBackwards,
                             JobSystem::kDropsLast, JobSystem::kLate}) {
    system.way = way;
    y.assign(100, -1);
    adrt_status status = adrt_run(plan, nullptr, &error);
    if (way == JobSystem::kDropsLast || way == JobSystem::kDropsAll) {
      CHECK(status == ADRT_ERROR_DRIVER);
      INFO(error.text);
      CHECK(error.Says(way == JobSystem::kDropsAll ? "after 0 of 4 jobs" : "after 3 of 4 jobs"));
      CHECK(error.Says("kernel 'tape', task 0"));
      continue;
    }
    CHECK(status == ADRT_OK);
    CHECK(y == std::vector<double>(100, 1.0));
  }
  adrt_plan_release(plan);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
}

// Handles that are used after their release, or released twice, end the process, by the name of the function.
// Only builds that check handles have this (debug and address sanitizer).

#ifdef ADRT_CHECK_HANDLES

#include <adrt/adrt.h>
#include <adrt/adrt_cpu.h>
#include <adrt/adrt_rollout.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <string>

#include "session.h"

namespace {

/// What a child process wrote before it ended by abort; empty where it did not end so.
std::string Aborts(const std::function<void()>& act) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    act();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char piece[256];
  for (ssize_t count = 0; (count = read(ends[0], piece, sizeof piece)) > 0;)
    text.append(piece, size_t(count));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? text : std::string();
}

struct Handles {
  Handles() {
    std::vector<uint8_t> file = fixture::MakeBundle();
    adrt_error error = {};
    error.struct_size = sizeof error;
    REQUIRE(adrt_bundle_open(nullptr, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error) ==
            ADRT_OK);
    REQUIRE(adrt_bundle_kernel(bundle, 0, &kernel, &error) == ADRT_OK);
    REQUIRE(adrt_device_wrap_cpu(nullptr, nullptr, &device, &error) == ADRT_OK);
    REQUIRE(adrt_heap_create(nullptr, &heap, &error) == ADRT_OK);
    REQUIRE(adrt_memory_create(device, 64, &memory, &error) == ADRT_OK);
  }
  adrt_bundle* bundle = nullptr;
  const adrt_kernel* kernel = nullptr;
  adrt_device* device = nullptr;
  adrt_heap* heap = nullptr;
  adrt_memory* memory = nullptr;
};

}  // namespace

TEST_CASE("a handle that was released ends the process by name", "[handles]") {
  Handles on;
  adrt_memory_release(on.memory);
  adrt_heap_release(on.heap);
  adrt_device_release(on.device);
  adrt_bundle_release(on.bundle);
  // Handles of the same types again: none of them may lie where the released ones were.
  Handles again;
  auto said = [](const char* function, const char* type) {
    return std::string("adrt: ") + function + " got an " + type + " that was released before\n";
  };
  CHECK(Aborts([&] { adrt_memory_release(on.memory); }) == said("adrt_memory_release", "adrt_memory"));
  CHECK(Aborts([&] { adrt_memory_data(on.memory); }) == said("adrt_memory_data", "adrt_memory"));
  CHECK(Aborts([&] { adrt_heap_retain(on.heap); }) == said("adrt_heap_retain", "adrt_heap"));
  CHECK(Aborts([&] { adrt_heap_bytes(on.heap); }) == said("adrt_heap_bytes", "adrt_heap"));
  CHECK(Aborts([&] { adrt_device_release(on.device); }) == said("adrt_device_release", "adrt_device"));
  CHECK(Aborts([&] {
          adrt_heap* heap = nullptr;
          adrt_heap_create_on(on.device, &heap, nullptr);
        }) == said("adrt_heap_create_on", "adrt_device"));
  CHECK(Aborts([&] { adrt_bundle_release(on.bundle); }) == said("adrt_bundle_release", "adrt_bundle"));
  CHECK(Aborts([&] { adrt_bundle_source(on.bundle, 0); }) == said("adrt_bundle_source", "adrt_bundle"));
  CHECK(Aborts([&] {
          adrt_kernel_report report = {};
          report.struct_size = sizeof report;
          adrt_kernel_info(on.kernel, &report, nullptr);
        }) == said("adrt_kernel_info", "adrt_kernel"));
  // What is alive is not in the way, and what is none is told apart.
  CHECK(adrt_heap_bytes(again.heap) == 0);
  CHECK(adrt_memory_bytes(again.memory) == 64);
  adrt_heap* other = reinterpret_cast<adrt_heap*>(again.memory);
  CHECK(Aborts([&] { adrt_heap_bytes(other); }) ==
        "adrt: adrt_heap_bytes got an adrt_heap that is not a handle, or was released long ago\n");
  adrt_memory_release(again.memory);
  adrt_heap_release(again.heap);
  adrt_device_release(again.device);
  adrt_bundle_release(again.bundle);
}

TEST_CASE("plans, modules, rollouts and records that were released end the process by name", "[handles]") {
  std::vector<double> x(5), y(5);
  int32_t n = 2;
  fixture::Session session(1);
  std::vector<adrt_arg> args = {fixture::BufferArg("x", ADRT_TYPE_F64, x.data(), {5}),
                                fixture::BufferArg("y", ADRT_TYPE_F64, y.data(), {5}),
                                fixture::ScalarArg("n", ADRT_TYPE_I32, &n)};
  fixture::Plan planned(session, "tape", args);
  REQUIRE(planned.Run() == ADRT_OK);
  adrt_launch_plan* plan = planned.plan;
  planned.plan = nullptr;
  adrt_plan_release(plan);
  fixture::Plan again(session, "tape", args);
  CHECK(again.plan != plan);
  CHECK(Aborts([&] { adrt_run(plan, nullptr, nullptr); }) ==
        "adrt: adrt_run got an adrt_launch_plan that was released before\n");
  CHECK(Aborts([&] { adrt_plan_release(plan); }) ==
        "adrt: adrt_plan_release got an adrt_launch_plan that was released before\n");
  // By way of a descriptor.
  adrt_heap* heap = nullptr;
  REQUIRE(adrt_heap_create(nullptr, &heap, nullptr) == ADRT_OK);
  adrt_heap_release(heap);
  adrt_run_desc run = {};
  run.struct_size = sizeof run;
  run.heap = heap;
  CHECK(Aborts([&] { adrt_run(again.plan, &run, nullptr); }) ==
        "adrt: adrt_run got an adrt_heap that was released before\n");
  adrt_module* module = nullptr;
  REQUIRE(adrt_module_load(session.device, session.bundle, &module, nullptr) == ADRT_OK);
  adrt_module_release(module);
  CHECK(Aborts([&] { adrt_module_release(module); }) ==
        "adrt: adrt_module_release got an adrt_module that was released before\n");

  adrt_rollout_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.steps = 4;
  desc.state_bytes = 8;
  adrt_rollout* rollout = nullptr;
  REQUIRE(adrt_rollout_create(nullptr, &desc, &rollout, nullptr) == ADRT_OK);
  adrt_rollout_release(rollout);
  CHECK(Aborts([&] { adrt_rollout_release(rollout); }) ==
        "adrt: adrt_rollout_release got an adrt_rollout that was released before\n");

  adrt_cpu_record* record = nullptr;
  REQUIRE(adrt_cpu_record_create(session.device, &record, nullptr) == ADRT_OK);
  adrt_cpu_record_release(record);
  CHECK(Aborts([&] { adrt_cpu_record_stages(record); }) ==
        "adrt: adrt_cpu_record_stages got an adrt_cpu_record that was released before\n");
}

TEST_CASE("memory of released handles is given back in the end", "[handles]") {
  Handles on;
  adrt_heap* first = nullptr;
  REQUIRE(adrt_heap_create(nullptr, &first, nullptr) == ADRT_OK);
  adrt_heap_release(first);
  for (int round = 0; round < 3000; ++round) {
    adrt_heap* heap = nullptr;
    REQUIRE(adrt_heap_create(nullptr, &heap, nullptr) == ADRT_OK);
    adrt_heap_release(heap);
  }
  CHECK(Aborts([&] {
          while (true) {  // the address is free for a new heap, or forgotten
            adrt_heap_bytes(first);
            adrt_heap_release(first);
          }
        }).find("adrt: adrt_heap_") == 0);
  adrt_memory_release(on.memory);
  adrt_heap_release(on.heap);
  adrt_device_release(on.device);
  adrt_bundle_release(on.bundle);
}

#endif

#pragma once
// What every test of the loader needs: handles that release themselves, arguments by name, a fixture opened
// and loaded.

#include <adrt/adrt.h>
#include <adrt/adrt_trace.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "fixture.h"

namespace fixture {

inline adrt_host TrustingHost() {
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  return host;
}

struct ErrorBox : adrt_error {
  ErrorBox() : adrt_error{} { struct_size = sizeof(adrt_error); }
  bool Says(const char* part) const { return std::strstr(text, part) != nullptr; }
};

/// What a host was told of launches' memory. Each figure must be the plan's at that moment.
struct HeapTraces {
  std::vector<adrt_heap_trace> told;

  void Take(const adrt_heap_trace& one) {
    ErrorBox error;
    adrt_task_report task = {};
    adrt_plan_report plan = {};
    task.struct_size = sizeof task;
    plan.struct_size = sizeof plan;
    CHECK(one.struct_size == sizeof one);
    REQUIRE(adrt_plan_info(one.plan, &plan, &error) == ADRT_OK);
    if (one.task == ADRT_TRACE_LAUNCH) {
      CHECK(one.heap_bytes == plan.heap_bytes);
    } else {
      REQUIRE(adrt_plan_task(one.plan, one.task, &task, &error) == ADRT_OK);
      CHECK(one.heap_bytes == task.heap_bytes);
      CHECK(one.rows == task.rows);
      CHECK(one.row_bytes == task.row_bytes);
      CHECK(one.threads == task.threads);
      CHECK(std::string(one.place) == task.place);
    }
    told.push_back(one);
  }
  /// What came since the last call: there must be so much of it.
  std::vector<adrt_heap_trace> Next(size_t count) {
    std::vector<adrt_heap_trace> next;
    next.swap(told);
    REQUIRE(next.size() == count);
    return next;
  }
};

inline adrt_arg BufferArg(const char* name, uint32_t type, void* data, std::vector<int64_t> extents) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_BUFFER;
  arg.name = name;
  arg.type = type;
  arg.rank = static_cast<uint32_t>(extents.size());
  arg.data = data;
  for (size_t axis = 0; axis < extents.size() && axis < 8; ++axis) arg.extents[axis] = extents[axis];
  return arg;
}

inline adrt_arg ScalarArg(const char* name, uint32_t type, void* value) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_SCALAR;
  arg.name = name;
  arg.type = type;
  arg.data = value;
  return arg;
}

/// A bundle opened, a device, a module: everything until kernels.
struct Session {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  ErrorBox error;
  uint32_t workers = 0;  ///< that plans ask for; 0: none

  explicit Session(uint32_t worker_count = 1, const std::vector<uint8_t>& file = MakeBundle(),
                   const adrt_host& host = TrustingHost()) {
    Must(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error));
    Must(adrt_device_open_cpu(&host, worker_count, &device, &error));
    Must(adrt_module_load(device, bundle, &module, &error));
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }

  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
  const adrt_kernel* Kernel(const char* name) {
    const adrt_kernel* kernel = nullptr;
    Must(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error));
    return kernel;
  }
};

/// A plan that releases itself; `status` is what adrt_plan gave.
struct Plan {
  adrt_launch_plan* plan = nullptr;
  adrt_status status = ADRT_OK;
  ErrorBox error;

  Plan(Session& session, const char* kernel, std::vector<adrt_arg> args, uint64_t budget = 0,
       bool with_module = true) {
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = with_module ? session.module : nullptr;
    desc.heap_budget = budget;
    desc.workers = session.workers;
    status = adrt_plan(session.Kernel(kernel), &desc, &plan, &error);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() { adrt_plan_release(plan); }

  adrt_plan_report Info() {
    adrt_plan_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_plan_info(plan, &report, &error) == ADRT_OK);
    return report;
  }
  adrt_task_report Task(uint32_t task) {
    adrt_task_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_plan_task(plan, task, &report, &error) == ADRT_OK);
    return report;
  }
  adrt_stack_report Stack(uint32_t task, uint32_t stack) {
    adrt_stack_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_plan_stack(plan, task, stack, &report, &error) == ADRT_OK);
    return report;
  }
  adrt_status Run(const adrt_run_desc* desc = nullptr) { return adrt_run(plan, desc, &error); }
};

inline adrt_run_desc RunDesc() {
  adrt_run_desc desc = {};
  desc.struct_size = sizeof desc;
  return desc;
}

}  // namespace fixture

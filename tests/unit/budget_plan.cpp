#include <adrt/adrt.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "../support/hostile_bundles.h"
#include "artifact/budget.h"
#include "session.h"

// That a plan ends, whatever the metadata says: each call on it has one budget of steps, for all sizes.

namespace {

using namespace adc::artifact;
using fixture::ErrorBox;

/// A kernel of one parameter `n` (i64), planned with 1000 there.
struct Family {
  const char* name;
  const char* kind;  ///< of the target
  void (*fill)(KernelMeta& kernel, size_t n);
};

TaskMeta StacksTask(KernelMeta& kernel, size_t stacks, NodeId capacity) {
  TaskMeta task = hostile::SerialTask();
  AdstackPlanMeta plan;
  plan.groups.push_back({});
  for (uint32_t index = 0; index < stacks; ++index) {
    StackMeta stack;
    stack.id = index;
    // No two in a row have one capacity, so that each is evaluated.
    stack.capacity = index % 2 == 0 ? capacity : kernel.exprs.Add(capacity, kernel.exprs.Const(index));
    stack.place = "a:1:1";
    plan.stacks.push_back(stack);
  }
  task.plans.push_back(plan);
  task.entries[0].plan = 0;
  return task;
}

NodeId Chain(KernelMeta& kernel, size_t n) {
  NodeId value = kernel.exprs.Arg(0);
  for (size_t index = 0; index < n; ++index)
    value = kernel.exprs.Max(kernel.exprs.Sub(value, kernel.exprs.Const(1)), kernel.exprs.Const(7));
  return value;
}

NodeId Nested(KernelMeta& kernel, size_t depth) {
  SizeExprPool& pool = kernel.exprs;
  NodeId value = pool.Const(1);
  for (uint32_t level = 0; level < depth; ++level)
    value = pool.MaxOver(level, pool.Const(0), pool.Arg(0),
                         pool.Max(pool.Min(pool.Index(level), pool.Const(9)), value));
  return value;
}

constexpr Family kFamilies[] = {
    {"stacks over a long straight expression", "cpu",
     [](KernelMeta& kernel, size_t n) {
       kernel.tasks.push_back(StacksTask(kernel, n, Chain(kernel, 4 * n)));
     }},
    {"loops in loops", "cpu",
     [](KernelMeta& kernel, size_t n) {
       size_t depth = 1;
       while (size_t{1} << depth < n) ++depth;
       kernel.tasks.push_back(StacksTask(kernel, 1, Nested(kernel, depth < 16 ? depth : 15)));
     }},
    {"tasks with a loop each", "cpu",
     [](KernelMeta& kernel, size_t n) {
       NodeId loop = Nested(kernel, 1);
       for (size_t index = 0; index < n; ++index) kernel.tasks.push_back(StacksTask(kernel, 2, loop));
     }},
    {"segments of many lengths", "cpu",
     [](KernelMeta& kernel, size_t n) {
       ParamMeta segment = hostile::Param(1, ScalarType::kI32, 0);
       segment.kind = ParamKind::kSegment;
       segment.role = ParamRole::kSegment;
       kernel.params.push_back(segment);
       NodeId length = kernel.exprs.Add(Chain(kernel, 4 * n), kernel.exprs.Arg(1));
       kernel.tasks.push_back(StacksTask(kernel, n, length));
     }},
    {"tasks and arguments of a GPU", "cuda",
     [](KernelMeta& kernel, size_t n) {
       for (size_t index = 0; index < n; ++index) {
         ParamMeta param = hostile::Param(index + 1, ScalarType::kF32, 0);
         param.kind = ParamKind::kScalar;
         param.rows = param.columns = 16;
         kernel.params.push_back(param);
         kernel.tasks.push_back(hostile::SerialTask());
       }
     }},
    {"stacks that share", "cpu",
     [](KernelMeta& kernel, size_t n) {
       TaskMeta task = StacksTask(kernel, n, kernel.exprs.Arg(0));
       for (StackMeta& stack : task.plans[0].stacks) stack.share = 1000000 - stack.id;
       kernel.tasks.push_back(task);
     }},
    {"scratch over a long straight expression", "cpu",
     [](KernelMeta& kernel, size_t n) {
       NodeId extent = Chain(kernel, 4 * n);
       for (size_t index = 0; index < n; ++index) {
         ParamMeta scratch = hostile::Param(index + 1, ScalarType::kF32, 1);
         scratch.kind = ParamKind::kScratch;
         scratch.role = ParamRole::kScratch;
         scratch.extents.push_back(extent);
         kernel.params.push_back(scratch);
       }
       kernel.tasks.push_back(hostile::SerialTask());
     }},
    {"stacks that read", "cpu",
     [](KernelMeta& kernel, size_t n) {
       kernel.params.push_back(hostile::Param(1));
       NodeId value = kernel.exprs.Const(0);
       for (size_t index = 0; index < 2 * n; ++index)
         value = kernel.exprs.Min(kernel.exprs.Read(1, {&value, 1}), kernel.exprs.Const(9));
       kernel.tasks.push_back(StacksTask(kernel, n, value));
     }},
};

/// Counts of the calls on one plan.
struct Planned {
  adrt_status made = ADRT_OK, updated = ADRT_OK, resolved = ADRT_OK;
  uint64_t steps = 0;
  ErrorBox error;
};

Planned PlanOf(const Family& family, size_t n, uint64_t size_budget) {
  Metadata metadata = hostile::OneTarget(family.kind, "x86-64", "");
  KernelMeta kernel;
  kernel.name = "k";
  ParamMeta scalar = hostile::Param(0, ScalarType::kI64, 0);
  scalar.kind = ParamKind::kScalar;
  kernel.params.push_back(scalar);
  family.fill(kernel, n);
  metadata.kernels.push_back(kernel);
  std::vector<uint8_t> file = hostile::PackMetadata(metadata);
  adrt_limits limits = {};
  limits.struct_size = sizeof limits;
  limits.open_memory_bytes = limits.open_raw_bytes = limits.open_steps = UINT64_MAX - 1;
  adrt_host host = {};
  host.struct_size = sizeof host;
  host.limits = &limits;
  Planned planned;
  adrt_bundle* bundle = nullptr;
  const adrt_kernel* found = nullptr;
  REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &planned.error) ==
          ADRT_OK);
  REQUIRE(adrt_bundle_find_kernel(bundle, "k", 0, &found, nullptr) == ADRT_OK);

  alignas(8) static int64_t values[256] = {1000};
  std::vector<adrt_arg> args;
  for (uint32_t index = 0; index < kernel.params.size(); ++index) {
    const ParamMeta& param = kernel.params[index];
    if (IsHidden(param)) continue;
    adrt_arg arg = {};
    arg.struct_size = sizeof arg;
    arg.kind = static_cast<uint32_t>(param.kind) + 1;
    arg.index = index;
    arg.type = static_cast<uint32_t>(param.type) + 1;
    arg.rows = param.rows;
    arg.columns = param.columns;
    arg.rank = param.rank;
    arg.extents[0] = param.rank > 0 ? 16 : 0;
    arg.data = index == 0 ? values : values + 1;
    args.push_back(arg);
  }
  adrt_plan_desc desc = {};
  desc.struct_size = sizeof desc;
  desc.args = args.data();
  desc.arg_count = static_cast<uint32_t>(args.size());
  desc.size_budget = size_budget;
  adrt_launch_plan* plan = nullptr;
  planned.made = adrt_plan(found, &desc, &plan, &planned.error);
  if (plan) {
    auto steps = [&] {
      adrt_plan_report report = {};
      report.struct_size = sizeof report;
      CHECK(adrt_plan_info(plan, &report, nullptr) == ADRT_OK);
      return report.steps;
    };
    planned.steps = steps();
    planned.resolved = adrt_plan_resolve(plan, nullptr, 0, &planned.error);
    uint64_t most = size_budget ? size_budget : kPlanSteps;
    CHECK(steps() <= most);
    int64_t other = 900;
    args[0].data = &other;
    planned.updated = adrt_plan_update(plan, args.data(), 1, &planned.error);
    CHECK(steps() <= most);
    adrt_plan_release(plan);
  }
  adrt_bundle_release(bundle);
  return planned;
}

}  // namespace

TEST_CASE("planning ends within its steps, whatever the metadata says", "[budget]") {
  bool prints = std::getenv("ADC_PRINT_BUDGETS") != nullptr;
  constexpr uint64_t kEnough = 1 << 22;  // of the default's 2^28, which take about a second
  for (const Family& family : kFamilies) {
    INFO(family.name);
    for (size_t n : {50u, 200u, 800u, 1600u}) {
      INFO("n = " << n);
      auto begin = std::clock();
      Planned planned = PlanOf(family, n, kEnough);
      if (prints) {
        std::printf("%-42s n %5zu: status %d, %d, %d, %10llu steps, %.0f ms\n", family.name, n, planned.made,
                    planned.resolved, planned.updated, static_cast<unsigned long long>(planned.steps),
                    double(std::clock() - begin) * 1000 / CLOCKS_PER_SEC);
      }
      for (adrt_status status : {planned.made, planned.resolved, planned.updated}) {
        CHECK((status == ADRT_OK || status == ADRT_ERROR_OVER_LIMIT));
        if (status == ADRT_ERROR_OVER_LIMIT) CHECK(planned.error.Says("adrt_plan_desc.size_budget"));
      }
      if (planned.made == ADRT_OK) CHECK(planned.steps <= kEnough);
    }
  }
}

TEST_CASE("the steps of a plan are those of all its sizes together", "[budget]") {
  for (const Family& family : kFamilies) {
    INFO(family.name);
    Planned whole = PlanOf(family, 40, 0);
    if (whole.made != ADRT_OK || whole.steps < 2) continue;
    CHECK(PlanOf(family, 40, whole.steps).made == ADRT_OK);
    Planned refused = PlanOf(family, 40, whole.steps - 1);
    CHECK(refused.made == ADRT_ERROR_OVER_LIMIT);
    CHECK(refused.error.Says("adrt_plan_desc.size_budget"));
  }
}

#include "core/errors.h"
#include "core/launch.h"

// The memory of a launch if a given number of iterations passed a gate: sizing as it goes on after counting,
// with a count that no kernel has counted. For plans without a module alone, so that no launch rests on it.

using adrt::Fail;

adrt_status adrt_plan_assume(adrt_launch_plan* plan, uint32_t task, uint32_t group, uint64_t iterations,
                             adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || task >= plan->tasks.size() || group >= plan->tasks[task].groups.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_assume: null argument or no such group");
  }
  if (plan->module) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_assume: a plan that has a module counts for itself");
  }
  adrt::TaskPlan& sizes = plan->tasks[task];
  const adc::artifact::AdstackPlanMeta& adstack = *adrt::AdstackPlanOf(*plan, task);
  // Where stacks are to be counted as well, nothing is known without running the kernel that counts.
  if (!adstack.groups[group].counted || adrt::MustCount(*plan, task) || !adrt::CanCount(*plan, task))
    return ADRT_OK;
  size_t stacks = adstack.stacks.size(), groups = adstack.groups.size();
  if (sizes.assumed.empty()) {
    sizes.assumed.Bind(&plan->host.allocator);
    if (!sizes.assumed.TryResize(stacks + groups)) return adrt::OutOfMemory(error);
    for (int64_t& count : sizes.assumed) count = INT64_MAX;
  }
  sizes.assumed[stacks + group] =
      iterations < uint64_t{INT64_MAX} ? static_cast<int64_t>(iterations) : INT64_MAX;
  sizes.counts = &sizes.assumed;
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt::BeginSteps(*plan);
  // Sizes that contents have settled (adrt_plan_resolve) stay so.
  bool settled = sizes.IsSettled();
  return adrt::SizeTask(*plan, task, settled, details) ? ADRT_OK : details->status;
}

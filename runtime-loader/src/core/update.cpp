#include <cstring>

#include "core/bounds_record.h"
#include "core/errors.h"
#include "core/launch.h"

// Other arguments for a plan: what a program does between two launches of one kernel. The plan keeps its
// memory, and what it knows as far as that still holds: where only floats and addresses change nothing is
// computed; where a number, a shape or a content changes, the sizes that may depend on it are. What code has
// counted may rest on floats too: it is counted again.

using adrt::Fail;

namespace adrt {
namespace {

static_assert(std::is_trivially_copyable_v<BoundParam>);

// What BindOthers may change, kept until it is known that the plan can have it.
bool Keep(adrt_launch_plan& plan, adrt_error* error) {
  const artifact::Allocator* allocator = &plan.host.allocator;
  if (plan.params_before.empty()) {
    plan.params_before.Bind(allocator);
    plan.cells_before.Bind(allocator);
  }
  if (!plan.params_before.TryResize(plan.params.size()) || !plan.cells_before.TryResize(plan.cells.size())) {
    OutOfMemory(error);
    return false;
  }
  for (size_t index = 0; index < plan.params.size(); ++index) plan.params_before[index] = plan.params[index];
  for (size_t cell = 0; cell < plan.cells.size(); ++cell) plan.cells_before[cell] = plan.cells[cell];
  return true;
}

void Restore(adrt_launch_plan& plan) {
  for (size_t cell = 0; cell < plan.cells.size(); ++cell) plan.cells[cell] = plan.cells_before[cell];
  for (size_t index = 0; index < plan.params.size(); ++index) {
    plan.params[index] = plan.params_before[index];
    plan.size_params[index].has_scalar = plan.params[index].has_integer;
    plan.size_params[index].scalar = plan.params[index].integer;
  }
  RebindRecord(plan);
}

bool SizeChanged(const BoundParam& before, const BoundParam& now) {
  return before.has_integer != now.has_integer || before.integer != now.integer ||
         std::memcmp(before.extents, now.extents, sizeof now.extents) != 0;
}

// Versions that are equal promise equal contents only of one memory. Without a version every launch looks.
bool ContentChanged(const BoundParam& before, const BoundParam& now) {
  return before.content_version != now.content_version || before.place != now.place;
}

// Whether a by-value argument is another one, float or not.
bool NumbersChanged(const adrt_launch_plan& plan) {
  for (const artifact::ParamMeta& param : plan.meta().params) {
    if (param.kind != artifact::ParamKind::kScalar) continue;
    size_t bytes = artifact::CellCount(param) * sizeof(uint64_t);
    if (std::memcmp(&plan.cells_before[param.cell], &plan.cells[param.cell], bytes) != 0) return true;
  }
  return false;
}

// Whether settling the task looked, or counting it would look, at contents that have changed.
bool LookedAtChange(const adrt_launch_plan& plan, uint32_t task) {
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  for (const Vector<uint32_t>* reads : {&meta.size_reads, &meta.count_reads, &meta.trip_reads}) {
    for (uint32_t param : *reads) {
      if (ContentChanged(plan.params_before[param], plan.params[param])) return true;
    }
  }
  return false;
}

bool Settle(adrt_launch_plan& plan, adrt_error* error) {
  RebindRecord(plan);
  bool sizes_changed = false;
  for (size_t index = 0; index < plan.params.size(); ++index) {
    sizes_changed = sizes_changed || SizeChanged(plan.params_before[index], plan.params[index]);
  }
  if (sizes_changed) return SizeLaunchAgain(plan, error);
  bool numbers_changed = NumbersChanged(plan);
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    bool counted = plan.tasks[task].counts || plan.tasks[task].has_trips;
    if (!(numbers_changed && counted) && !LookedAtChange(plan, task)) continue;
    plan.tasks[task].counts = nullptr;
    ForgetTrips(plan.tasks[task]);
    if (!SizeTask(plan, task, false, error)) return false;
  }
  return true;
}

bool Update(adrt_launch_plan& plan, const adrt_arg* args, uint32_t arg_count, adrt_error* error) {
  if (!Keep(plan, error)) return false;
  if (BindOthers(args, arg_count, plan, error)) {
    if (Settle(plan, error)) return true;
    Restore(plan);
    adrt_error passed = {};
    SizeLaunchAgain(plan, DetailsOf(nullptr, &passed));
    return false;
  }
  Restore(plan);
  return false;
}

}  // namespace
}  // namespace adrt

adrt_status adrt_plan_update(adrt_launch_plan* plan, const adrt_arg* args, uint32_t arg_count,
                             adrt_error* error) {
  if (!plan || (!args && arg_count > 0))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_update: null argument");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  return adrt::Update(*plan, args, arg_count, details) ? ADRT_OK : details->status;
}

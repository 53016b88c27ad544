#include <type_traits>

#include "core/bounds_record.h"
#include "core/errors.h"
#include "core/launch.h"

// Other arguments for a plan: the change that a program makes between two launches of one kernel. The plan
// keeps its memory, and its facts as far as they still hold: where only floats and addresses change nothing
// is computed; where a number, a shape or a content changes, the sizes that may depend on it are. A count
// by code may rest on floats too: the code counts again.

using adrt::Fail;

namespace adrt {
namespace {

static_assert(std::is_trivially_copyable_v<BoundParam>);

// Copies of what BindOthers may change, until it is known that the plan can have it.
bool AllocateCopies(adrt_launch_plan& plan, adrt_error* error) {
  if (!plan.params_before.empty()) return true;
  plan.params_before.Bind(plan.allocator());
  plan.cells_before.Bind(plan.allocator());
  if (plan.cells_before.TryResize(plan.cells.size()) && plan.params_before.TryResize(plan.params.size()))
    return true;
  OutOfMemory(error);
  return false;
}

// Whether the parameter is one of those that were given now.
bool IsGiven(const adrt_launch_plan& plan, uint32_t param) {
  return plan.params[param].given == plan.bindings;
}

void Restore(adrt_launch_plan& plan) {
  for (uint32_t index = 0; index < plan.params.size(); ++index) {
    if (!IsGiven(plan, index)) continue;
    plan.params[index] = plan.params_before[index];
    plan.size_params[index].has_scalar = plan.params[index].has_integer;
    plan.size_params[index].scalar = plan.params[index].integer;
    const artifact::ParamMeta& param = plan.meta().params[index];
    for (uint32_t n = artifact::CellCount(param); n-- > 0;)
      plan.cells[param.cell + n] = plan.cells_before[param.cell + n];
  }
  RebindRecord(plan);
}

// Versions that are equal promise equal contents only of one memory. Without a version every launch looks.
bool ContentChanged(const BoundParam& before, const BoundParam& now) {
  return before.content_version != now.content_version || before.place != now.place;
}

// Whether settling the task looked, or counting it would look, at contents that have changed.
bool LookedAtChange(const adrt_launch_plan& plan, uint32_t task) {
  const artifact::TaskMeta& meta = plan.meta().tasks[task];
  for (const Vector<uint32_t>* reads : {&meta.size_reads, &meta.count_reads, &meta.trip_reads}) {
    for (uint32_t param : *reads) {
      if (IsGiven(plan, param) && ContentChanged(plan.params_before[param], plan.params[param])) return true;
    }
  }
  return false;
}

bool Settle(adrt_launch_plan& plan, const Changes& changes, adrt_error* error) {
  if (!RecordIsApart(plan, error)) return false;
  RebindRecord(plan);
  if (changes.sizes) return SizeLaunchAgain(plan, error);
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    bool counted = plan.tasks[task].counts || plan.tasks[task].trips != Trips::kMissing;
    if (!(changes.numbers && counted) && !LookedAtChange(plan, task)) continue;
    plan.tasks[task].counts = nullptr;
    plan.tasks[task].trips = Trips::kMissing;
    if (SizeTask(plan, task, false, error)) continue;
    if (error->status != ADRT_ERROR_HEAP_TOO_SMALL || !LeavesRefusal(plan)) return false;
  }
  return true;
}

bool Update(adrt_launch_plan& plan, const adrt_arg* args, uint32_t arg_count, adrt_error* error) {
  if (!AllocateCopies(plan, error)) return false;
  BeginSteps(plan);
  Changes changes;
  if (BindOthers(args, arg_count, plan, &changes, error)) {
    if (Settle(plan, changes, error)) return true;
    Restore(plan);
    BeginSteps(plan);
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
  adrt::Alive(__func__, plan);
  if (!plan || (!args && arg_count > 0))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_update: null argument");
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  return adrt::Update(*plan, args, arg_count, details) ? ADRT_OK : details->status;
}

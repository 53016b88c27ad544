#include "core/serving.h"

namespace adrt {

void SetUpServing(const adrt_launch_plan& served, const adrt_kernel* kernel, adrt_launch_plan& plan) {
  const artifact::Allocator* allocator = plan.allocator();
  plan.kernel = kernel;
  plan.bundle = served.bundle;
  plan.module = served.module;
  plan.target = served.target;
  plan.workers = served.workers;
  plan.size_budget = served.size_budget;
  plan.is_cancelled = served.is_cancelled;
  plan.cancel_user = served.cancel_user;
  plan.steps = served.steps;
  plan.rules = served.rules;
  plan.serves = true;
  plan.first_own = static_cast<uint32_t>(served.params.size());
  plan.params.Bind(allocator);
  plan.size_params.Bind(allocator);
  plan.cells.Bind(allocator);
}

bool BindServing(const adrt_launch_plan& served, adrt_launch_plan& plan) {
  const Vector<artifact::ParamMeta>&from = served.meta().params, &params = plan.meta().params;
  if (!plan.params.TryResize(params.size()) || !plan.size_params.TryResize(params.size()) ||
      !plan.cells.TryResize(artifact::CellCount(plan.meta()))) {
    return false;
  }
  bool plain_alone = plan.meta().role == artifact::KernelRole::kBounds;
  uint64_t* cell = plan.cells.data();
  uint32_t index = 0;
  for (uint32_t param = 0; param < from.size(); ++param) {
    if (plain_alone && from[param].role != artifact::ParamRole::kPlain) continue;
    BoundParam& bound = plan.params[index] = served.params[param];
    artifact::SizeParam& size = plan.size_params[index] = served.size_params[param];
    if (size.extents) size.extents = bound.extents;
    // The contents to which a record refers may have changed although the caller's content versions are
    // equal.
    if (plain_alone) bound.content_version = 0;
    for (uint32_t n = 0; n < artifact::CellCount(from[param]); ++n)
      *cell++ = served.cells[from[param].cell + n];
    ++index;
  }
  return true;
}

void BindOwn(adrt_launch_plan& plan, uint32_t index, const Place& place, uint64_t elements) {
  const artifact::ParamMeta& meta = plan.meta().params[index];
  BoundParam& bound = plan.params[index];
  bound.given = true;
  bound.place = place;
  bound.content = ReadsInPlace(plan) ? place.host() : nullptr;
  bound.bytes = elements * artifact::ElementSize(meta);
  bound.extents[0] = static_cast<int64_t>(elements);
  plan.size_params[index].extents = bound.extents;
  plan.size_params[index].rank = 1;
  plan.cells[meta.cell] = place.address;
  plan.cells[meta.cell + 1] = elements;
}

}  // namespace adrt

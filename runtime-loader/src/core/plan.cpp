#include "artifact/gpu_abi.h"
#include "core/bounds_record.h"
#include "core/errors.h"
#include "core/host.h"
#include "core/launch.h"
#include "core/parts.h"

// Plans: arguments checked and sizes computed, before anything runs.

using adrt::Fail;

namespace {

constexpr uint32_t kMaxWorkers = 1u << 24;
constexpr uint64_t kDefaultThreshold = 1u << 20;

// The elements that a vector takes at once that gets `count` of them.
template <class T>
size_t PieceOf(size_t count) {
  constexpr size_t kFewest = 4;
  return count == 0 ? 0 : adrt::BlockMemory::Rounded((count > kFewest ? count : kFewest) * sizeof(T));
}

// Bytes of what BindArguments and SizeLaunch take for a plan of the kernel, as far as that is known: a plan
// is one piece of memory as a rule.
size_t BlockBytes(const adc::artifact::KernelMeta& meta, uint32_t target,
                  const adc::artifact::RowRules& rules) {
  size_t cells = CellCount(meta), params = meta.params.size();
  size_t bytes = PieceOf<adrt::BoundParam>(params) + PieceOf<adc::artifact::SizeParam>(params) +
                 PieceOf<uint64_t>(cells) + PieceOf<adrt::TaskPlan>(meta.tasks.size());
  for (const adc::artifact::TaskMeta& task : meta.tasks) {
    const adc::artifact::AdstackPlanMeta* adstack = adrt::AdstackPlanOf(task, target);
    if (adstack) {
      bytes += PieceOf<adc::artifact::GroupPlace>(adstack->groups.size()) +
               PieceOf<adc::artifact::StackPlace>(adstack->stacks.size()) +
               PieceOf<bool>(adstack->stacks.size());
    }
    bytes += PieceOf<uint64_t>(LaunchWordCount(cells, adstack, rules));
  }
  return bytes;
}

// On a GPU each task passes all of the kernel's arguments, so that both together decide about the memory.
uint64_t WordsOf(const adrt_kernel& kernel, uint32_t target) {
  const adc::artifact::Metadata& metadata = kernel.bundle->metadata;
  bool is_gpu = adc::artifact::RowRulesOf(metadata.targets[target].kind.view(), /*lanes=*/1).is_gpu;
  uint64_t cells = CellCount(*kernel.meta), tasks = kernel.meta->tasks.size();
  return is_gpu ? tasks * (cells + ADRT_GPU_TAIL_WORDS) : cells;
}

// A plan with nothing bound, and a block of memory after it; null when refused.
adrt_launch_plan* MakePlan(const adrt::Host& host, const adrt_kernel* kernel, uint32_t target) {
  const adc::artifact::Metadata& metadata = kernel->bundle->metadata;
  adc::artifact::RowRules rules =
      adc::artifact::RowRulesOf(metadata.targets[target].kind.view(), /*lanes=*/1);
  size_t head = adrt::BlockMemory::Rounded(sizeof(adrt_launch_plan));
  size_t bytes = head + BlockBytes(*kernel->meta, target, rules);
  constexpr size_t kAlignment = adrt::BlockMemory::kAlignment;
  static_assert(alignof(adrt_launch_plan) <= kAlignment);
  void* memory = adrt::TakeHandle(host.allocator, bytes, kAlignment, adrt::Handle::Plan);
  if (!memory) return nullptr;
  adrt_launch_plan* made = new (memory) adrt_launch_plan(host);
  made->memory.GiveBlock(static_cast<unsigned char*>(memory) + head, bytes - head);
  made->block_bytes = bytes;
  made->kernel = kernel;
  made->bundle = kernel->bundle;
  made->target = target;
  made->rules = rules;
  return made;
}

void DeletePlan(adrt_launch_plan* plan) {
  adc::artifact::Allocator allocator = plan->host.allocator;  // it lies in the plan
  size_t bytes = plan->block_bytes;
  plan->~adrt_launch_plan();
  adrt::GiveHandle(allocator, plan, bytes, adrt::BlockMemory::kAlignment, adrt::Handle::Plan);
}

bool Prepare(const adrt_launch_plan& plan, adrt_error* error) {
  auto* prepare = plan.module ? plan.module->device->kind->prepare : nullptr;
  return !prepare || prepare(plan, error);
}

bool FillPlan(const adrt_plan_desc& desc, adrt_launch_plan& plan, adrt_error* error) {
  for (uint32_t task = 0; task < plan.meta().tasks.size(); ++task) {
    if (adrt::EntryOf(plan, task)) continue;
    return adrt::Refuse(error, ADRT_ERROR_NO_TARGET, plan.meta(), " has no code for target '",
                        plan.bundle->metadata.targets[plan.target].name.view(), "'");
  }
  return adrt::BindArguments(desc, plan, error) && adrt::BindRecord(desc, plan, error) &&
         Prepare(plan, error) && adrt::SizeLaunch(plan, error);
}

// Whether the contents that the task's sizes look at have been seen and settled it: its number of iterations
// then stays what it is.
bool KnowsContents(const adrt_launch_plan& plan, uint32_t task) {
  if (!plan.tasks[task].was_settled) return false;
  for (uint32_t param : plan.meta().tasks[task].size_reads) {
    if (!plan.params[param].content) return false;
  }
  return true;
}

// A cap settles what it can at once; late tasks are left to adrt_run. If it does not settle the rest, it is
// of no use to the caller.
bool UseCap(adrt_launch_plan& plan, uint64_t cap, adrt_error* error) {
  plan.cap = cap;
  if (!adrt::SizeTasks(plan, KnowsContents, error)) return false;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (plan.tasks[task].state == adrt::TaskState::kOpen) return adrt::RefuseOpen(plan, task, error);
  }
  return true;
}

}  // namespace

adrt_status adrt_plan(const adrt_kernel* kernel, const adrt_plan_desc* desc, adrt_launch_plan** plan,
                      adrt_error* error) {
  adrt::Alive(__func__, kernel);
  if (!kernel || !desc || !plan) return Fail(error, ADRT_ERROR_ARGUMENT, "plan: null argument");
  adrt_plan_desc wanted = {};
  if (!adrt::CopyDescriptor(desc, &wanted)) return Fail(error, ADRT_ERROR_ARGUMENT, "plan: ", adrt::kNotSet);
  adrt::Alive(__func__, wanted.module);
  if (!wanted.args && wanted.arg_count > 0) return Fail(error, ADRT_ERROR_ARGUMENT, "plan: args is null");
  if (wanted.module && wanted.module->bundle != kernel->bundle) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan: the module is of another bundle than kernel '",
                kernel->meta->name.view(), "'");
  }
  if (!wanted.module && wanted.target >= kernel->bundle->metadata.targets.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan: the bundle has no target ", wanted.target);
  }
  const adrt::Host& host = wanted.module ? wanted.module->host : kernel->bundle->host;
  uint64_t size_budget = wanted.size_budget ? wanted.size_budget : adc::artifact::kPlanSteps;
  if (wanted.module) wanted.module = adrt::PartFor(*wanted.module, *kernel->meta);
  uint32_t target = wanted.module ? wanted.module->target : wanted.target;
  uint64_t words = WordsOf(*kernel, target);
  if (words > size_budget) {
    return Fail(error, ADRT_ERROR_OVER_LIMIT, *kernel->meta, ": its plan has ", words, " words, over the ",
                size_budget, " steps of adrt_plan_desc.size_budget");
  }
  adrt_launch_plan* made = MakePlan(host, kernel, target);
  if (!made) return adrt::OutOfMemory(error);
  made->module = wanted.module;
  uint32_t most = wanted.module ? wanted.module->device->worker_count : kMaxWorkers;
  made->most_workers = wanted.workers;
  made->workers = wanted.workers ? wanted.workers : wanted.module ? most : 1;
  if (made->workers > most) made->workers = most;
  made->heap_budget = wanted.heap_budget;
  made->size_budget = size_budget;
  made->is_cancelled = wanted.is_cancelled;
  made->cancel_user = wanted.cancel_user;
  adrt::BeginSteps(*made);
  made->steps->Spend(words);
  made->size_threshold = wanted.size_threshold ? wanted.size_threshold : kDefaultThreshold;
  adrt_bundle_retain(made->bundle);
  adrt_module_retain(made->module);

  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  if (!FillPlan(wanted, *made, details)) {
    adrt_status status = details->status;
    adrt_plan_release(made);
    return status;
  }
  *plan = made;
  return ADRT_OK;
}

void adrt_plan_retain(adrt_launch_plan* plan) {
  adrt::Alive(__func__, plan);
  if (plan) plan->count.Retain();
}

void adrt_plan_release(adrt_launch_plan* plan) {
  adrt::Alive(__func__, plan);
  if (!plan || !plan->count.Release()) return;
#ifdef ADRT_SEQUENCES
  if (plan->groups) plan->leave_groups(*plan);
#endif
  adrt_module* module = plan->module;
  adrt::ReleaseCounting(*plan);
  adrt::ReleaseRecord(*plan);
  for (adrt::Memory* memory : {&plan->run_rows, &plan->run_status}) {
    if (module && memory->given()) module->device->kind->release(*module->device, *memory);
  }
  adrt_bundle* bundle = plan->bundle;
  DeletePlan(plan);
  adrt_module_release(module);
  adrt_bundle_release(bundle);
}

adrt_status adrt_plan_with_cap(adrt_launch_plan* plan, uint64_t max_bytes, adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || max_bytes == 0)
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_with_cap: null argument, or cap 0");
  adrt_error own = {}, passed = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  uint64_t before = plan->cap;
  for (adrt::TaskPlan& task : plan->tasks) task.was_settled = task.IsSettled();
  adrt::BeginSteps(*plan);
  if (UseCap(*plan, max_bytes, details)) return ADRT_OK;
  plan->cap = before;
  adrt::BeginSteps(*plan);
  adrt::SizeTasks(*plan, KnowsContents, adrt::DetailsOf(nullptr, &passed));
  return details->status;
}

adrt_status adrt_plan_chain_status(adrt_launch_plan* plan, int on, adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan) return Fail(error, ADRT_ERROR_ARGUMENT, "plan_chain_status: null argument");
  plan->chains_status = on != 0;
  return ADRT_OK;
}

adrt_status adrt_plan_info(const adrt_launch_plan* plan, adrt_plan_report* report, adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || !report) return Fail(error, ADRT_ERROR_ARGUMENT, "plan_info: null argument");
  adrt_plan_report made = {};
  made.resolved = 1;
  for (uint32_t task = 0; task < plan->tasks.size(); ++task) {
    uint32_t own = static_cast<uint32_t>(plan->meta().tasks[task].size_class);
    if (own > made.size_class) made.size_class = own;
    if (!plan->tasks[task].IsSettled()) made.resolved = 0;
  }
  made.task_count = static_cast<uint32_t>(plan->tasks.size());
  made.heap_bytes = adrt::HeapBytes(*plan);
  made.heap_alignment = adrt::HeapAlignment(*plan);
  made.status_bytes = ADRT_STATUS_BYTES;
  made.scratch_bytes = plan->scratch_bytes;
  for (uint32_t param = 0; param < plan->params.size(); ++param) {
    uint64_t elements = 0;
    adrt::SavedElements(*plan, param, &elements);
    made.saved_bytes = adrt::SavedBytes(plan->meta().params[param], elements, made.saved_bytes);
  }
  made.workers = plan->workers;
  made.target = plan->target;
  made.bounds_bytes = adrt::BoundsBytes(*plan->kernel);
  made.steps = plan->own_steps.taken();
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_info: struct_size is not set");
  return ADRT_OK;
}

adrt_status adrt_plan_saved(const adrt_launch_plan* plan, uint32_t param, uint64_t* elements,
                            adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || !elements) return Fail(error, ADRT_ERROR_ARGUMENT, "plan_saved: null argument");
  const adc::artifact::Vector<adc::artifact::ParamMeta>& params = plan->meta().params;
  if (param >= params.size() || params[param].role != adc::artifact::ParamRole::kSaved) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_saved: kernel '", plan->meta().name.view(), "', parameter ",
                param, " does not hold saved values");
  }
  if (adrt::SavedElements(*plan, param, elements)) return ADRT_OK;
  return Fail(error, ADRT_ERROR_NEEDS_DEVICE_DATA, "plan_saved: kernel '", plan->meta().name.view(),
              "', parameter '", params[param].name.view(),
              "': data says how many values are saved: ask after adrt_plan_resolve");
}

adrt_status adrt_plan_task(const adrt_launch_plan* plan, uint32_t task, adrt_task_report* report,
                           adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || !report || task >= plan->tasks.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_task: null argument or no such task");
  }
  const adc::artifact::TaskMeta& meta = plan->meta().tasks[task];
  const adc::artifact::AdstackPlanMeta* adstack = adrt::AdstackPlanOf(*plan, task);
  const adrt::TaskPlan& sizes = plan->tasks[task];
  adrt_task_report made = {};
  made.parallel = meta.kind == adc::artifact::TaskKind::kParallel;
  made.size_class = static_cast<uint32_t>(meta.size_class);
  made.resolved = sizes.IsSettled();
  made.axis_count = static_cast<uint32_t>(meta.extents.size());
  made.group_count = adstack ? static_cast<uint32_t>(adstack->groups.size()) : 0;
  made.stack_count = adstack ? static_cast<uint32_t>(adstack->stacks.size()) : 0;
  made.lanes = adstack ? adstack->lanes : 1;
  for (uint32_t axis = 0; axis < 8; ++axis) made.extents[axis] = sizes.extents[axis];
  made.iterations = sizes.total;
  uint64_t chunk = adrt::ChunkOf(*plan, task);
  made.chunks = sizes.total / chunk + (sizes.total % chunk != 0 ? 1 : 0);
  if (plan->rules.is_gpu) made.chunks = sizes.threads;
  made.threads = sizes.threads;
  made.rows = adstack ? sizes.rows : 0;
  made.row_bytes = sizes.row_bytes;
  made.heap_bytes = sizes.heap_bytes;
  made.place = meta.place.c_str();
  made.segment = sizes.segment;
  for (uint32_t axis = 0; axis < meta.extents.size(); ++axis) {
    if (adrt::TripsParam(*plan, task, axis) != adc::artifact::kNoIndex)
      made.counted_axes |= uint64_t{1} << axis;
  }
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_task: struct_size is not set");
  return ADRT_OK;
}

adrt_status adrt_plan_group(const adrt_launch_plan* plan, uint32_t task, uint32_t group,
                            adrt_group_report* report, adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || !report || task >= plan->tasks.size() || group >= plan->tasks[task].groups.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_group: null argument or no such group");
  }
  const adrt::TaskPlan& sizes = plan->tasks[task];
  const adc::artifact::AdstackPlanMeta& adstack = *adrt::AdstackPlanOf(*plan, task);
  const adc::artifact::GroupMeta& meta = adstack.groups[group];
  adrt_group_report made = {};
  made.can_count = adrt::CanCount(*plan, task) && meta.counted && plan->rules.is_gpu;
  made.counted = made.can_count && sizes.counts;
  if (made.counted) made.iterations = static_cast<uint64_t>((*sizes.counts)[adstack.stacks.size() + group]);
  made.rows = sizes.groups[group].rows;
  made.row_bytes = sizes.groups[group].stride;
  made.gate = meta.gate.c_str();
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_group: struct_size is not set");
  return ADRT_OK;
}

adrt_status adrt_plan_stack(const adrt_launch_plan* plan, uint32_t task, uint32_t stack,
                            adrt_stack_report* report, adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || !report || task >= plan->tasks.size() || stack >= plan->tasks[task].stacks.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_stack: null argument or no such stack");
  }
  const adc::artifact::AdstackPlanMeta& adstack = *adrt::AdstackPlanOf(*plan, task);
  const adc::artifact::StackMeta& meta = adstack.stacks[stack];
  const adc::artifact::StackPlace& sizes = plan->tasks[task].stacks[stack];
  adrt_stack_report made = {};
  made.type = meta.bits ? uint32_t{ADRT_TYPE_I1} : static_cast<uint32_t>(meta.type) + 1;
  made.bits = meta.bits;
  made.group = meta.group;
  made.in_row = meta.storage == adc::artifact::Storage::kRow;
  made.counted = meta.addressing == adc::artifact::Addressing::kCounted;
  made.size_class = static_cast<uint32_t>(plan->meta().exprs.ClassOf(meta.capacity));
  made.known = meta.capacity != adc::artifact::kNoNode;
  made.capacity = sizes.capacity == adrt::kNotKnown ? 0 : sizes.capacity;
  if (!adc::artifact::StackBytes(meta, made.capacity, &made.bytes)) made.bytes = UINT64_MAX;
  made.offset = sizes.offset;
  made.place = meta.place.c_str();
  bool in_group = made.in_row && meta.group < adstack.groups.size();
  made.gate = in_group ? adstack.groups[meta.group].gate.c_str() : "";
  adrt::Vector<std::string_view> names(&plan->host.allocator);
  adrt::String formula(&plan->host.allocator);
  for (const adc::artifact::ParamMeta& param : plan->meta().params) {
    if (!names.TryPush(param.name.view())) return adrt::OutOfMemory(error);
  }
  if (!adc::artifact::FormatSizeExpr(plan->meta().exprs, meta.capacity, {names.data(), names.size()},
                                     &formula)) {
    return adrt::OutOfMemory(error);
  }
  adc::artifact::TextWriter(made.formula, sizeof made.formula) << formula.view();
  if (!adrt::CopyReport(made, report))
    return Fail(error, ADRT_ERROR_ARGUMENT, "plan_stack: struct_size is not set");
  return ADRT_OK;
}

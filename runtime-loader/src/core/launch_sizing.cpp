#include <cstring>

#include "artifact/gpu_abi.h"
#include "core/bounds_record.h"
#include "core/call_memory.h"
#include "core/errors.h"
#include "core/launch.h"

// A launch as a whole: scratch and words at the start of its heap, then its tasks, which are sized one after
// the other (sizing.cpp) and use the rest in turn. The results that follow from all of them are computed here
// too.

namespace adrt {
namespace {

// An extent that the metadata states for a parameter.
bool EvaluateExtent(const adrt_launch_plan& plan, uint32_t index, uint32_t axis, int64_t* extent,
                    adrt_error* error) {
  const artifact::KernelMeta& meta = plan.meta();
  const artifact::ParamMeta& param = meta.params[index];
  artifact::SizeEnv env;
  env.params = {plan.size_params.data(), plan.size_params.size()};
  env.budget = plan.size_budget;
  CallMemory memory(plan.host.allocator);
  env.allocator = memory.allocator();
  artifact::EvalResult result = artifact::Evaluate(meta.exprs, param.extents[axis], env, plan.steps);
  if (result.status == artifact::EvalStatus::kOutOfMemory) return OutOfMemory(error) == ADRT_OK;
  if (result.status == artifact::EvalStatus::kBudget) return SpendSteps(plan, plan.size_budget, error);
  *extent = result.value > 0 ? result.value : 0;
  if (!result.ok() && result.status != artifact::EvalStatus::kOverflow)
    return Refuse(error, ADRT_ERROR_MALFORMED, meta, ": the size of '", param.name.view(),
                  "' depends on what a launch does not know yet");
  uint64_t bytes = 0;
  if (result.ok() &&
      !artifact::MultiplyOverflows(static_cast<uint64_t>(*extent), artifact::ElementSize(param), &bytes))
    return true;
  return Refuse(error, ADRT_ERROR_SIZE_OVERFLOW, meta, ": the size of '", param.name.view(),
                "' does not fit 64 bits");
}

// Scratch parameters lie at the start of the heap, one after the other. Their cells hold offsets until the
// launch.
bool LayOutScratch(adrt_launch_plan& plan, adrt_error* error) {
  const artifact::KernelMeta& meta = plan.meta();
  uint64_t cursor = 0;
  for (uint32_t index = plan.first_own; index < meta.params.size(); ++index) {
    const artifact::ParamMeta& param = meta.params[index];
    if (param.kind != artifact::ParamKind::kScratch) continue;
    uint64_t bytes = artifact::ElementSize(param);
    plan.cells[param.cell] = cursor;
    for (uint32_t axis = 0; axis < param.rank; ++axis) {
      int64_t extent = 0;
      if (!EvaluateExtent(plan, index, axis, &extent, error)) return false;
      if (artifact::MultiplyOverflows(bytes, static_cast<uint64_t>(extent), &bytes)) {
        return Refuse(error, ADRT_ERROR_SIZE_OVERFLOW, meta, ": the size of scratch '", param.name.view(),
                      "' does not fit 64 bits");
      }
      plan.params[index].extents[axis] = extent;
      plan.cells[param.cell + 1 + axis] = static_cast<uint64_t>(extent);
    }
    plan.params[index].bytes = bytes;
    if (artifact::AddOverflows(cursor, bytes, &cursor) ||
        !artifact::AlignUp(cursor, plan.rules.offset_unit, &cursor) || cursor > uint64_t{PTRDIFF_MAX}) {
      return Refuse(error, ADRT_ERROR_SIZE_OVERFLOW, meta, ": scratch does not fit 64 bits");
    }
  }
  plan.scratch_bytes = cursor;
  return true;
}

bool SavedFits(const adrt_launch_plan& plan, uint32_t param, uint64_t elements, adrt_error* error) {
  return static_cast<uint64_t>(plan.params[param].extents[0]) >= elements ||
         RefuseSaved(plan, param, elements, ADRT_ERROR_ARGUMENT, "", error);
}

// `count`: 1 + an iteration that breaks the promise.
bool RefusePromise(const adrt_launch_plan& plan, const artifact::StackMeta& stack, uint64_t count,
                   adrt_error* error) {
  artifact::MessagePart nothing = "", number = count - 1;
  bool known = count != kNotKnown;
  return Refuse(error, known ? ADRT_ERROR_WRITE_PROMISE : ADRT_ERROR_UNSUPPORTED, plan.meta(),
                known ? ", iteration " : "", known ? number : nothing, ", ", stack.place.view(),
                known ? ": two iterations of one parallel loop meet in an element of '"
                      : ": counting, which a cap excludes, checks what is promised of '",
                plan.meta().params[stack.param].name.view(), known ? "', and one of them writes it" : "'");
}

// Buffers of saved values are the caller's, and hold what a launch fills or reads. Without a module nothing
// runs: their sizes are what is asked for.
bool CheckSaved(adrt_launch_plan& plan, adrt_error* error) {
  const artifact::KernelMeta& meta = plan.meta();
  uint64_t bytes = 0;
  for (uint32_t index = 0; index < meta.params.size(); ++index) {
    const artifact::ParamMeta& param = meta.params[index];
    if (param.role != artifact::ParamRole::kSaved) continue;
    int64_t least = 0;
    if (!EvaluateExtent(plan, index, 0, &least, error)) return false;
    plan.params[index].least = least;
    if (artifact::AddOverflows(bytes, static_cast<uint64_t>(least) * artifact::ElementSize(param), &bytes))
      return Refuse(error, ADRT_ERROR_SIZE_OVERFLOW, meta, ": its saved values do not fit 64 bits");
    if (plan.module && !SavedFits(plan, index, static_cast<uint64_t>(least), error)) return false;
  }
  return true;
}

// Where the target's code reads a launch's words, or some of them, from memory they lie after scratch, each
// task's apart, so that recording one task does not overwrite another's.
void LayOutWords(adrt_launch_plan& plan) {
  plan.base_bytes = plan.scratch_bytes;
  for (TaskPlan& task : plan.tasks) {
    task.words_offset = plan.base_bytes;
    // Far from overflowing: scratch is within half of the address space, and the words are in memory.
    artifact::AlignUp(plan.base_bytes + artifact::WordBytesInHeap(task.words.size(), plan.rules),
                      plan.rules.offset_unit, &plan.base_bytes);
  }
}

// Whether memory that a parameter shares with others may change while the kernel runs.
bool IsAliasWritten(const artifact::KernelMeta& meta) {
  for (const artifact::ParamMeta& param : meta.params) {
    if (param.alias && param.access != artifact::Access::kRead) return true;
  }
  return false;
}

// Rows have been fitted, as far as there are some: the memory before them is part of the heap as well. The
// need of a task that is open is not known, and then nor is a budget that would do.
bool FitsBudget(const adrt_launch_plan& plan, adrt_error* error) {
  for (const TaskPlan& task : plan.tasks) {
    if (task.state == TaskState::kOpen) return true;
  }
  uint64_t most = plan.MostBytes(), bytes = HeapBytes(plan);
  if (most == 0 || bytes <= most) return true;
  Refuse(error, ADRT_ERROR_HEAP_TOO_SMALL, plan.meta(), ": its heap takes ", bytes, " bytes, more than the ",
         most, " of its ", most == plan.cap ? "cap" : "budget");
  if (error && error->struct_size >= sizeof(adrt_error)) error->needed_bytes = bytes;
  return false;
}

const artifact::EntryMeta* EntryFor(const artifact::TaskMeta& task, uint32_t target) {
  for (const artifact::EntryMeta& entry : task.entries) {
    if (entry.target == target) return &entry;
  }
  return nullptr;
}

}  // namespace

const artifact::EntryMeta* EntryOf(const adrt_launch_plan& plan, uint32_t task) {
  return EntryFor(plan.meta().tasks[task], plan.target);
}

const artifact::AdstackPlanMeta* AdstackPlanOf(const artifact::TaskMeta& task, uint32_t target) {
  const artifact::EntryMeta* entry = EntryFor(task, target);
  return entry && entry->plan != artifact::kNoIndex ? &task.plans[entry->plan] : nullptr;
}

const artifact::AdstackPlanMeta* AdstackPlanOf(const adrt_launch_plan& plan, uint32_t task) {
  return AdstackPlanOf(plan.meta().tasks[task], plan.target);
}

bool SpendSteps(const adrt_launch_plan& plan, uint64_t steps, adrt_error* error) {
  if (plan.steps->Spend(steps)) return true;
  return Refuse(error, ADRT_ERROR_OVER_LIMIT, plan.meta(), ": its sizes take more than ", plan.steps->limit(),
                " steps to compute: allow more (adrt_plan_desc.size_budget) if you trust the bundle, or "
                "bound what buffers decide (adrt_plan_with_cap)");
}

bool RefuseAt(const adrt_launch_plan& plan, uint32_t task, adrt_status status, artifact::Message message,
              adrt_error* error) {
  const artifact::MessagePart where[] = {
      plan.meta(), ", task ", task, " (", plan.meta().tasks[task].place.view(), "): "};
  return RefuseWith(error, status, where, message);
}

bool PrepareTasks(adrt_launch_plan& plan, adrt_error* error) {
  const artifact::KernelMeta& meta = plan.meta();
  plan.alias_written = IsAliasWritten(meta);
  const artifact::Allocator* allocator = plan.allocator();
  plan.tasks.Bind(allocator);
  if (!plan.tasks.TryResize(meta.tasks.size())) return OutOfMemory(error) == ADRT_OK;
  for (uint32_t task = 0; task < meta.tasks.size(); ++task) {
    TaskPlan& sizes = plan.tasks[task];
    sizes.groups.Bind(allocator);
    sizes.stacks.Bind(allocator);
    sizes.open.Bind(allocator);
    sizes.words.Bind(allocator);
    const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
    if (adstack) {
      size_t groups = adstack->groups.size(), stacks = adstack->stacks.size();
      if (!sizes.groups.TryResize(groups) || !sizes.stacks.TryResize(stacks) ||
          !sizes.open.TryResize(stacks)) {
        return OutOfMemory(error) == ADRT_OK;
      }
    }
    if (!sizes.words.TryResize(artifact::LaunchWordCount(plan.cells.size(), adstack, plan.rules)))
      return OutOfMemory(error) == ADRT_OK;
  }
  LayOutWords(plan);
  return true;
}

bool RefuseSaved(const adrt_launch_plan& plan, uint32_t param, uint64_t elements, adrt_status status,
                 const char* at_least, adrt_error* error) {
  const artifact::ParamMeta& meta = plan.meta().params[param];
  Refuse(error, status, plan.meta(), ", parameter '", meta.name.view(), "': a launch saves ", at_least,
         elements, " values there, and its extent is ", plan.params[param].extents[0]);
  if (error && error->struct_size >= sizeof(adrt_error)) error->needed_bytes = SavedBytes(meta, elements, 0);
  return false;
}

uint64_t SavedBytes(const artifact::ParamMeta& param, uint64_t elements, uint64_t others) {
  uint64_t bytes = 0;
  bool fits = !artifact::MultiplyOverflows(elements, artifact::ElementSize(param), &bytes) &&
              !artifact::AddOverflows(bytes, others, &bytes);
  return fits ? bytes : UINT64_MAX;
}

bool SavedElements(const adrt_launch_plan& plan, uint32_t param, uint64_t* elements) {
  *elements = static_cast<uint64_t>(plan.params[param].least);
  bool known = true;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
    for (uint32_t index = 0; adstack && index < adstack->stacks.size(); ++index) {
      const artifact::StackMeta& stack = adstack->stacks[index];
      if (stack.storage != artifact::Storage::kSaved || stack.param != param) continue;
      uint64_t own = plan.tasks[task].stacks[index].capacity;
      if (!plan.tasks[task].IsSettled() || own == kNotKnown) {
        known = false;
      } else if (own > *elements) {
        *elements = own;
      }
    }
  }
  return known;
}

bool LayOutBase(adrt_launch_plan& plan, adrt_error* error) {
  if (!LayOutScratch(plan, error)) return false;
  LayOutWords(plan);
  return true;
}

bool CheckSavedAndPromises(const adrt_launch_plan& plan, uint32_t task, adrt_error* error) {
  const artifact::AdstackPlanMeta* adstack = AdstackPlanOf(plan, task);
  for (uint32_t index = 0; adstack && !plan.serves && index < adstack->stacks.size(); ++index) {
    const artifact::StackMeta& stack = adstack->stacks[index];
    uint64_t elements = plan.tasks[task].stacks[index].capacity;
    if (stack.storage == artifact::Storage::kPromise && elements > 0)
      return RefusePromise(plan, stack, elements, error);
    if (stack.storage != artifact::Storage::kSaved || elements == kNotKnown) continue;
    if (!SavedFits(plan, stack.param, elements, error)) return false;
  }
  return true;
}

bool SizeLaunch(adrt_launch_plan& plan, adrt_error* error) {
  if (!CheckSaved(plan, error) || !LayOutScratch(plan, error) || !PrepareTasks(plan, error) ||
      !PlaceRecord(plan, error))
    return false;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    plan.tasks[task].by_count = ReadsTooMuch(plan, task);
  }
  return SizeTasks(plan, false, error);
}

bool LeavesRefusal(const adrt_launch_plan& plan) {
  return plan.module && plan.cap == 0 && !plan.serves;
}

void SayAtLeast(const adrt_launch_plan& plan, uint32_t task, adrt_error& error) {
  size_t used = std::strlen(error.text);
  artifact::TextWriter(error.text + used, sizeof error.text - used)
      << " for what is known; what task " << task << " (" << plan.meta().tasks[task].place.view()
      << ") takes is known later";
}

uint32_t LateFrom(const adrt_launch_plan& plan, uint32_t task) {
  for (; task < plan.tasks.size(); ++task) {
    if (plan.tasks[task].IsLate() && AdstackPlanOf(plan, task)) return task;
  }
  return artifact::kNoIndex;
}

bool SizeTasks(adrt_launch_plan& plan, bool may_read, adrt_error* error) {
  using Know = bool (*)(const adrt_launch_plan&, uint32_t);
  Know all = [](const adrt_launch_plan&, uint32_t) { return true; };
  Know none = [](const adrt_launch_plan&, uint32_t) { return false; };
  return SizeTasks(plan, may_read ? all : none, error);
}

bool SizeTasks(adrt_launch_plan& plan, bool (*knows)(const adrt_launch_plan& plan, uint32_t task),
               adrt_error* error) {
  adrt_error own = {}, largest = {};
  own.struct_size = sizeof own;
  uint32_t open = artifact::kNoIndex;
  bool reads = false;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    bool known = knows(plan, task);
    reads = reads || known;
    if (SizeTask(plan, task, known && !plan.tasks[task].IsLate(), &own)) {
      if (!plan.tasks[task].IsSettled() && open == artifact::kNoIndex) open = task;
      continue;
    }
    if (own.status != ADRT_ERROR_HEAP_TOO_SMALL) {
      PassOn(own, error);
      return false;
    }
    if (own.needed_bytes >= largest.needed_bytes) largest = own;
  }
  if (largest.status == ADRT_OK) return FitsBudget(plan, error);
  // A budget that does for all tasks is known when all have been read: the refusal waits for that.
  if (open != artifact::kNoIndex && !reads && LeavesRefusal(plan)) return true;
  // On a CPU the read values may be counted as well.
  if (reads && plan.module && ReadsInPlace(plan)) open = LateFrom(plan, 0);
  if (open != artifact::kNoIndex) SayAtLeast(plan, open, largest);
  PassOn(largest, error);
  return false;
}

bool SizeLaunchAgain(adrt_launch_plan& plan, adrt_error* error) {
  if (!CheckSaved(plan, error) || !LayOutBase(plan, error) || !PlaceRecord(plan, error)) return false;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    plan.tasks[task].counts = nullptr;
    plan.tasks[task].segment = 0;
    plan.tasks[task].by_count = ReadsTooMuch(plan, task);
    plan.tasks[task].trips = Trips::kMissing;
  }
  return SizeTasks(plan, false, error);
}

bool ReadsExtents(const adrt_launch_plan& plan, uint32_t task) {
  for (artifact::NodeId extent : plan.meta().tasks[task].extents) {
    if (plan.meta().exprs.ClassOf(extent) == artifact::SizeClass::kS2) return true;
  }
  return false;
}

bool MustReadAgain(const adrt_launch_plan& plan, uint32_t task) {
  if (plan.tasks[task].IsLate()) return true;
  for (uint32_t param : plan.meta().tasks[task].size_reads) {
    if (plan.params[param].content_version == 0) return true;
  }
  return false;
}

bool MayWrite(const adrt_launch_plan& plan, uint32_t param) {
  const Vector<artifact::ParamMeta>& params = plan.meta().params;
  if (params[param].kind == artifact::ParamKind::kScratch) return true;
  if (params[param].access != artifact::Access::kRead) return true;
  return params[param].alias && plan.alias_written;
}

bool ReadsInPlace(const adrt_launch_plan& plan) {
  return !plan.rules.is_gpu;
}

uint64_t HeapBytes(const adrt_launch_plan& plan) {
  uint64_t largest = 0;
  for (const TaskPlan& task : plan.tasks) {
    if (!task.OwnRows(false) && task.heap_bytes > largest) largest = task.heap_bytes;
  }
  return plan.base_bytes + largest;
}

uint64_t HeapAlignment(const adrt_launch_plan& plan) {
  return plan.rules.offset_unit;
}

uint64_t ChunkOf(const adrt_launch_plan& plan, uint32_t task) {
  // Eight pieces per worker even out iterations of unequal length; more would only cost, and so would pieces
  // of less than a block, which is not worth waking a worker for. A caller that asks for workers gets them
  // all the same. Each piece adds its copies: one of large ones. One worker takes all at once: code that runs
  // every iteration of its task sums without atomics.
  constexpr uint64_t kPiecesPerWorker = 8, kManyCopied = 4096;
  const TaskPlan& sizes = plan.tasks[task];
  if (sizes.threads <= 1) return sizes.total > 1 ? sizes.total : 1;
  uint64_t even = (sizes.total - 1) / sizes.threads + 1;
  uint64_t chunk = sizes.total / (sizes.threads * kPiecesPerWorker);
  const artifact::EntryMeta* entry = EntryOf(plan, task);
  uint64_t block = entry && entry->block_size > 0 ? entry->block_size : 1;
  chunk = chunk / block * block;
  if (chunk < block) chunk = block;
  bool copies = sizes.copied > kManyCopied && chunk < even, is_asked = plan.most_workers > 0 && chunk > even;
  return copies || is_asked ? even : chunk;
}

}  // namespace adrt

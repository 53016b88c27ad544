#pragma once
// What a plan knows about a launch: the arguments as the code wants them, and per task how many iterations
// there are and where its adstacks lie in the heap.
//
// The heap: [scratch parameters | rows of the running task]. Tasks run one after the other, so their rows use
// the same bytes. A task's part is [group 0: rows * stride | group 1: ... ]; strides are multiples of 64
// bytes, so that two workers never write one cache line.

#include "core/handles.h"

namespace adrt {

/// One parameter of the kernel as bound by the caller.
struct BoundParam {
  bool given = false;
  unsigned char* data = nullptr;
  uint64_t bytes = 0;
  int64_t extents[8] = {};
  bool has_integer = false;  ///< an integer scalar that fits int64
  int64_t integer = 0;
  uint64_t content_version = 0;
};

struct GroupPlan {
  uint64_t offset = 0;  ///< from the start of the task's part
  uint64_t stride = 0;  ///< bytes from row to row
};

struct StackPlan {
  uint64_t capacity = 0;
  uint64_t offset = 0;  ///< inside its row
  bool open = false;    ///< capacity not settled
};

/// Everything about one task that a launch needs.
struct TaskPlan {
  bool late = false;      ///< its sizes read what the kernel writes: settled when its turn comes
  bool resolved = false;  ///< extents and capacities are settled
  bool capped = false;    ///< S2 stacks got what the cap leaves instead of being read
  int64_t extents[8] = {};
  uint64_t total = 0;
  uint64_t rows = 0;
  uint64_t row_bytes = 0;   ///< over all groups
  uint64_t heap_bytes = 0;  ///< rows * row_bytes
  Vector<GroupPlan> groups;
  Vector<StackPlan> stacks;
  Vector<uint64_t> cells;  ///< the task's adstack cells, offsets from the start of the heap
  /// What a size kernel has counted, by StackMeta::id: capacities of the stacks that no expression sizes.
  const Vector<int64_t>* counts = nullptr;
};

/// One task as a device runs it.
struct LaunchTask {
  void* entry = nullptr;
  uint64_t total = 0;
  uint64_t jobs = 0;   ///< at most this many at once, each with its own row
  uint64_t chunk = 0;  ///< iterations dealt at once
  const uint64_t* cells = nullptr;
  const uint64_t* adstack = nullptr;
  unsigned char* heap = nullptr;
  uint32_t* status = nullptr;
};

}  // namespace adrt

struct adrt_launch_plan {
  explicit adrt_launch_plan(const adrt::Host& from) : host(from) {}

  const adc::artifact::KernelMeta& meta() const { return *kernel->meta; }

  adrt::Host host;
  const adrt_kernel* kernel = nullptr;
  adrt_bundle* bundle = nullptr;  ///< retained
  adrt_module* module = nullptr;  ///< retained, may be null
  uint32_t target = 0;
  uint32_t workers = 1;
  uint64_t heap_budget = 0;  ///< 0: none
  uint64_t cap = 0;          ///< 0: none
  uint64_t size_budget = 0;
  adrt::Vector<adrt::BoundParam> params;
  adrt::Vector<adc::artifact::SizeParam> size_params;
  adrt::Vector<uint64_t> cells;          ///< addresses of scratch are offsets until the launch
  adrt::Vector<uint64_t> scratch_sizes;  ///< per parameter, bytes; 0 for others
  uint64_t scratch_bytes = 0;
  adrt::Vector<adrt::TaskPlan> tasks;
};

namespace adrt {

/// Binds the caller's arguments to the kernel's parameters: every rule about them. Fills params, size_params
/// and cells.
bool BindArguments(const adrt_plan_desc& desc, adrt_launch_plan& plan, adrt_error* error);

/// Lays out scratch and settles what can be settled without reading buffers.
bool SizeLaunch(adrt_launch_plan& plan, adrt_error* error);

/// Room for every task of the plan, nothing settled.
bool PrepareTasks(adrt_launch_plan& plan, adrt_error* error);

/// Whether running the task's size kernel says what is open.
bool IsCounted(const adrt_launch_plan& plan, uint32_t task);
/// Counts the open stacks of a task by running its size kernel until nothing grows, then settles the task.
/// The task's scratch must be in place.
bool CountTask(adrt_launch_plan& plan, uint32_t task, Vector<int64_t>& counts, adrt_error* error);

/// Runs one settled task in `heap`.
bool LaunchOnDevice(const adrt_launch_plan& plan, uint32_t task, unsigned char* heap, uint32_t* status,
                    adrt_error* error);

/// Settles one task, with buffer reads where `may_read`. Leaves it open, without an error, where that is not
/// enough.
bool SizeTask(adrt_launch_plan& plan, uint32_t task, bool may_read, adrt_error* error);

/// Whether a task's sizes must be read again at each launch.
bool MustReadAgain(const adrt_launch_plan& plan, uint32_t task);

/// The part of the heap that all tasks settled before the launch need, scratch included.
uint64_t HeapBytes(const adrt_launch_plan& plan);

/// The plan of the task's adstacks on this target; null where it has none.
const artifact::AdstackPlanMeta* AdstackPlanOf(const adrt_launch_plan& plan, uint32_t task);
/// The task's code on this target; null where there is none.
const artifact::EntryMeta* EntryOf(const adrt_launch_plan& plan, uint32_t task);

/// How many iterations are dealt at once.
uint64_t ChunkOf(const adrt_launch_plan& plan, uint32_t task);

}  // namespace adrt

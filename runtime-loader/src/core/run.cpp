#include <cstring>

#include "artifact/cpu_abi.h"
#include "core/errors.h"
#include "core/heap.h"
#include "core/host.h"
#include "core/launch.h"

// The simple way to run: settle sizes, take memory, launch task after task, read the status block.

using adrt::Fail;

static_assert(ADRT_STATUS_BYTES == ADRT_CPU_STATUS_WORDS * sizeof(uint32_t));
static_assert(int{ADRT_HEAP_ALIGNMENT} == int{ADRT_CPU_ROW_ALIGNMENT});

namespace {

// Memory of one launch that goes when the launch ends.
class PassingMemory {
 public:
  explicit PassingMemory(const adc::artifact::Allocator& allocator) : allocator_(&allocator) {}
  PassingMemory(const PassingMemory&) = delete;
  PassingMemory& operator=(const PassingMemory&) = delete;
  ~PassingMemory() { Drop(); }

  void* Take(uint64_t bytes) {
    Drop();
    memory_ = adc::artifact::Allocate(allocator_, bytes, ADRT_HEAP_ALIGNMENT);
    size_ = memory_ ? bytes : 0;
    return memory_;
  }

 private:
  void Drop() {
    adc::artifact::Release(allocator_, memory_, size_, ADRT_HEAP_ALIGNMENT);
    memory_ = nullptr;
  }

  const adc::artifact::Allocator* allocator_;
  void* memory_ = nullptr;
  uint64_t size_ = 0;
};

class Launcher {
 public:
  Launcher(adrt_launch_plan& plan, const adrt_run_desc& desc, adrt_error* error)
      : plan_(plan), desc_(desc), error_(error), passing_(plan.host.allocator), late_(plan.host.allocator) {}

  bool Run() {
    for (uint32_t task = 0; task < plan_.tasks.size(); ++task) {
      if (plan_.tasks[task].late) continue;
      bool stale = !plan_.tasks[task].resolved || adrt::MustReadAgain(plan_, task);
      if (stale && !adrt::SizeTask(plan_, task, true, error_)) return false;
    }
    if (!TakeHeap()) return false;
    PlaceScratch();
    for (uint32_t task = 0; task < plan_.tasks.size(); ++task) {
      if (!RunTask(task)) return false;
      // After an overflow the values are wrong: later tasks would only compute from them.
      if (status_[ADRT_CPU_STATUS_CODE] == ADRT_CPU_ADSTACK_OVERFLOW) break;
    }
    return true;
  }

  const uint32_t* status() const { return status_; }

 private:
  bool TooSmall(uint64_t needed, uint64_t given) {
    Fail(error_, ADRT_ERROR_HEAP_TOO_SMALL, "kernel '", plan_.meta().name.view(), "': a heap of ", needed,
         " bytes would do, given ", given);
    error_->needed_bytes = needed;
    return false;
  }
  bool Refused(uint64_t bytes) {
    Fail(error_, ADRT_ERROR_OUT_OF_HOST_MEMORY, "kernel '", plan_.meta().name.view(),
         "': the host's allocator refused a heap of ", bytes, " bytes");
    error_->needed_bytes = bytes;
    return false;
  }

  bool TakeHeap() {
    uint64_t bytes = adrt::HeapBytes(plan_);
    if (plan_.heap_budget > 0 && bytes > plan_.heap_budget) return TooSmall(bytes, plan_.heap_budget);
    if (bytes == 0) return true;
    if (desc_.heap) {
      heap_ = static_cast<unsigned char*>(adrt::GrowHeap(*desc_.heap, bytes));
      return heap_ || Refused(bytes);
    }
    if (desc_.memory) {
      if (desc_.memory_size < bytes) return TooSmall(bytes, desc_.memory_size);
      if (reinterpret_cast<uintptr_t>(desc_.memory) % ADRT_HEAP_ALIGNMENT != 0) {
        return adrt::Refuse(error_, ADRT_ERROR_ARGUMENT, "run: memory is not aligned to ",
                            int32_t{ADRT_HEAP_ALIGNMENT}, " bytes");
      }
      heap_ = static_cast<unsigned char*>(desc_.memory);
      return true;
    }
    heap_ = static_cast<unsigned char*>(passing_.Take(bytes));
    return heap_ || Refused(bytes);
  }

  void PlaceScratch() {
    uint64_t offset = 0;
    for (uint32_t index = 0; index < plan_.params.size(); ++index) {
      const adc::artifact::ParamMeta& param = plan_.meta().params[index];
      if (param.kind != adc::artifact::ParamKind::kScratch) continue;
      adrt::BoundParam& bound = plan_.params[index];
      bound.data = heap_ ? heap_ + offset : nullptr;
      if (bound.data && bound.bytes > 0) std::memset(bound.data, 0, bound.bytes);
      plan_.cells[param.cell] = reinterpret_cast<uintptr_t>(bound.data);
      offset += (bound.bytes + ADRT_HEAP_ALIGNMENT - 1) / ADRT_HEAP_ALIGNMENT * ADRT_HEAP_ALIGNMENT;
    }
  }

  bool RunTask(uint32_t task) {
    adrt::TaskPlan& sizes = plan_.tasks[task];
    unsigned char* heap = heap_;
    if (sizes.late) {
      adrt::Vector<int64_t> counts(&plan_.host.allocator);
      bool counted = adrt::IsCounted(plan_, task);
      if (counted && !adrt::CountTask(plan_, task, counts, error_)) return false;
      if (!counted && !adrt::SizeTask(plan_, task, true, error_)) return false;
      // Scratch is in use by now, so the rows of such a task cannot move into a larger heap: they get their
      // own.
      heap = nullptr;
      if (sizes.heap_bytes > 0) {
        heap = static_cast<unsigned char*>(late_.Take(sizes.heap_bytes));
        if (!heap) return Refused(sizes.heap_bytes);
      }
    }
    if (sizes.total == 0) return true;
    return adrt::LaunchOnDevice(plan_, task, heap, status_, error_);
  }

  adrt_launch_plan& plan_;
  const adrt_run_desc& desc_;
  adrt_error* error_;
  PassingMemory passing_;
  PassingMemory late_;
  unsigned char* heap_ = nullptr;
  alignas(64) uint32_t status_[ADRT_CPU_STATUS_WORDS] = {};
};

uint64_t Pair(const uint32_t* words) {
  return uint64_t{words[1]} << 32 | words[0];
}

}  // namespace

adrt_status adrt_run(adrt_launch_plan* plan, const adrt_run_desc* desc, adrt_error* error) {
  if (!plan) return Fail(error, ADRT_ERROR_ARGUMENT, "run: null argument");
  if (!plan->module) return Fail(error, ADRT_ERROR_ARGUMENT, "run: the plan was made without a module");
  adrt_run_desc wanted = {};
  if (desc && !adrt::CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "run: struct_size is not set");
  }
  if (reinterpret_cast<uintptr_t>(wanted.status) % alignof(uint32_t) != 0) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "run: status is not aligned to 4 bytes");
  }
  adrt_error own = {};
  own.struct_size = sizeof own;
  adrt_error* details = error && error->struct_size >= sizeof(adrt_error) ? error : &own;
  Launcher launcher(*plan, wanted, details);
  if (!launcher.Run()) return details->status;
  if (wanted.status) std::memcpy(wanted.status, launcher.status(), ADRT_STATUS_BYTES);
  return adrt_status_read(plan, launcher.status(), error);
}

adrt_status adrt_status_read(const adrt_launch_plan* plan, const void* status, adrt_error* error) {
  if (!plan || !status) return Fail(error, ADRT_ERROR_ARGUMENT, "status_read: null argument");
  uint32_t words[ADRT_CPU_STATUS_WORDS];
  std::memcpy(words, status, sizeof words);
  uint32_t code = words[ADRT_CPU_STATUS_CODE], task = words[ADRT_CPU_STATUS_TASK],
           index = words[ADRT_CPU_STATUS_INDEX];
  if (code == ADRT_CPU_OK) return ADRT_OK;
  const adc::artifact::KernelMeta& meta = plan->meta();
  if (code > ADRT_CPU_WRITE_PROMISE_BROKEN || task >= meta.tasks.size()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "status_read: not a status block of kernel '", meta.name.view(),
                "'");
  }
  uint64_t iteration = Pair(words + ADRT_CPU_STATUS_ITERATION);
  if (code == ADRT_CPU_ADSTACK_OVERFLOW) {
    const adc::artifact::AdstackPlanMeta* adstack = adrt::AdstackPlanOf(*plan, task);
    std::string_view place =
        adstack && index < adstack->stacks.size() ? adstack->stacks[index].place.view() : "?";
    uint64_t capacity =
        index < plan->tasks[task].stacks.size() ? plan->tasks[task].stacks[index].capacity : 0;
    const char* remedy = plan->tasks[task].capped ? ": raise the cap of adrt_plan_with_cap" : "";
    return Fail(error, ADRT_ERROR_ADSTACK_OVERFLOW, "kernel '", meta.name.view(), "', task ", task,
                ", iteration ", iteration, ": the adstack at ", place, " would have needed ",
                Pair(words + ADRT_CPU_STATUS_NEEDED), " elements and has ", capacity, remedy);
  }
  const adrt::Vector<adc::artifact::CheckMeta>& table =
      code == ADRT_CPU_ASSERTION ? meta.asserts : meta.accesses;
  std::string_view place = index < table.size() ? table[index].place.view() : "?";
  std::string_view text = index < table.size() ? table[index].text.view() : "?";
  if (code == ADRT_CPU_ASSERTION) {
    return Fail(error, ADRT_ERROR_ASSERTION, "kernel '", meta.name.view(), "', iteration ", iteration, ", ",
                place, ": assertion failed: ", text);
  }
  if (code == ADRT_CPU_INDEX_OUT_OF_BOUNDS) {
    return Fail(error, ADRT_ERROR_INDEX_OUT_OF_BOUNDS, "kernel '", meta.name.view(), "', iteration ",
                iteration, ", ", place, ": an index into '", text, "' is out of bounds");
  }
  return Fail(error, ADRT_ERROR_WRITE_PROMISE, "kernel '", meta.name.view(), "', iteration ", iteration, ", ",
              place, ": '", text,
              "' is writeonce, and an element was written twice or read before it was written");
}

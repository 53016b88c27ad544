#include <cstring>

#include "artifact/cpu_abi.h"
#include "artifact/gpu_abi.h"
#include "core/bounds_record.h"
#include "core/errors.h"
#include "core/heap.h"
#include "core/host.h"
#include "core/launch.h"
#include "core/trace.h"
#include "platform/platform.h"

// The simple way to run: settle sizes, take memory, record task after task, wait, read the status block.

using adrt::Fail;

static_assert(ADRT_STATUS_BYTES == ADRT_CPU_STATUS_WORDS * sizeof(uint32_t));
static_assert(int{ADRT_HEAP_ALIGNMENT} == int{ADRT_CPU_ROW_ALIGNMENT});

namespace {

using adrt::platform::MonotonicNanoseconds;

class Launcher {
 public:
  Launcher(adrt_launch_plan& plan, const adrt_run_desc& desc, adrt_error* error)
      : plan_(plan),
        desc_(desc),
        error_(error),
        device_(*plan.module->device),
        passing_(device_),
        queue_(device_) {}
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher() { LeaveLateRows(); }

  bool Run() {
    if (plan_.bounds) {
      if (!adrt::GrowMemory(device_, plan_.bounds->memory, plan_.bounds->bytes, error_)) return false;
      if (plan_.bounds->compares && !CompareBounds()) return false;
      if (status_[ADRT_CPU_STATUS_CODE] != ADRT_CPU_OK) return true;
    }
    ++plan_.epoch;
    uint64_t held = HeldBytes();
    bool has_heap = SettleAll() && TakeHeap();
    Trace(ADRT_TRACE_LAUNCH, has_heap, held, HeldBytes());
    if (!has_heap || !TakeStatus() || !CheckGivenStatus()) return false;
    uint64_t begin = MonotonicNanoseconds();
    if (!queue_.Begin(error_)) return false;
    for (uint32_t turn = 0; turn < (desc_.repeat == 0 ? 1 : desc_.repeat); ++turn) {
      if (!RecordLaunch(turn == 0)) return false;
      if (status_[ADRT_CPU_STATUS_CODE] != ADRT_CPU_OK) break;
    }
    uint64_t recorded = MonotonicNanoseconds();
    if (!Wait()) return false;
    times_.record_nanoseconds = recorded - begin;
    times_.wait_nanoseconds = MonotonicNanoseconds() - recorded;
    return ReadStatus();
  }

  const uint32_t* status() const { return status_; }
  const adrt_run_times& times() const { return times_; }

 private:
  bool RecordLaunch(bool first) {
    if (!adrt::RecordStart(plan_, queue_.handle(), places_, first, error_)) return false;
    for (uint32_t task = 0; task < plan_.tasks.size(); ++task) {
      if (!RunTask(task)) return false;
      // After an overflow the values are wrong: later tasks would only compute from them.
      uint32_t code = status_[ADRT_CPU_STATUS_CODE];
      if (InHost() && (code == ADRT_CPU_ADSTACK_OVERFLOW || code == ADRT_CPU_BOUNDS_MOVED)) break;
    }
    return !plan_.bounds || plan_.bounds->compares || WriteBounds();
  }

  bool ReadStatus() {
    return InHost() || device_.kind->read(device_, places_.status, status_, sizeof status_, error_);
  }

  // Before anything is sized: the bounds of the gradient's loops size its tapes as well.
  bool CompareBounds() {
    return TakeStatus() && adrt::SettleRecord(plan_, false, error_) && queue_.Begin(error_) &&
           device_.kind->clear(device_, queue_.handle(), places_.status, error_) && RecordBounds() &&
           Wait() && ReadStatus();
  }

  // The kernel's last task is recorded. Where the loops that count have bounds in buffers it must be done.
  bool WriteBounds() {
    if (plan_.bounds->by_content && (!Wait() || !queue_.Begin(error_))) return false;
    return adrt::SettleRecord(plan_, false, error_) && RecordBounds();
  }

  bool RecordBounds() {
    return adrt::RecordBounds(plan_, queue_.handle(), plan_.bounds->memory.place, places_.status, error_);
  }

  bool TooSmall(uint64_t needed, uint64_t given) {
    Fail(error_, ADRT_ERROR_HEAP_TOO_SMALL, plan_.meta(), ": a heap of ", needed,
         " bytes is required, given ", given);
    error_->needed_bytes = needed;
    return false;
  }

  bool TakeHeap() {
    uint64_t bytes = adrt::HeapBytes(plan_);
    if (uint64_t most = plan_.MostBytes(); most > 0 && bytes > most) return TooSmall(bytes, most);
    if (bytes == 0) return true;
    if (desc_.heap) return GrowGiven(*desc_.heap, bytes);
    if (desc_.memory) return BindGiven(bytes);
    if (!passing_.Take(bytes, error_)) return false;
    places_.base = passing_.place();
    return true;
  }

  // Of the memory that the heap lies in, as far as it is there.
  uint64_t HeldBytes() const {
    if (desc_.heap) return desc_.heap->memory.place.bytes;
    return desc_.memory ? desc_.memory_size : places_.base.bytes;
  }

  void Trace(uint32_t task, bool goes_on, uint64_t held_before, uint64_t held) {
    adrt::TraceHeap(plan_, task, goes_on ? adrt_status{ADRT_OK} : error_->status, held_before, held);
  }

  bool GrowGiven(adrt_heap& heap, uint64_t bytes) {
    bool fits =
        heap.device ? heap.device == &device_ || (heap.device->kind->host_memory && InHost()) : InHost();
    if (!fits) {
      return adrt::Refuse(error_, ADRT_ERROR_ARGUMENT,
                          "run: the heap is not of the plan's device: make one with adrt_heap_create_on");
    }
    if (!adrt::GrowHeap(heap, bytes, error_)) return false;
    places_.base = heap.memory.place;
    return true;
  }

  bool BindGiven(uint64_t bytes) {
    char text[160] = {};
    adc::artifact::TextWriter reason(text, sizeof text);
    if (desc_.memory_size < bytes) return TooSmall(bytes, desc_.memory_size);
    if (!device_.kind->bind(device_, desc_.memory, &places_.base, reason)) {
      return adrt::Refuse(error_, ADRT_ERROR_ARGUMENT, "run: memory ", text);
    }
    if (places_.base.bytes < bytes) return TooSmall(bytes, places_.base.bytes);
    if (places_.base.position() % adrt::HeapAlignment(plan_) != 0) {
      return adrt::Refuse(error_, ADRT_ERROR_ARGUMENT, "run: memory is not aligned to ",
                          adrt::HeapAlignment(plan_), " bytes");
    }
    return adrt::IsApart(plan_, places_.base, bytes, {}, error_);
  }

  // Where launches write the caller's memory, its status block is written afterwards and must overlap no
  // other memory of the launch.
  bool CheckGivenStatus() {
    if (!InHost() || !desc_.status) return true;
    return adrt::IsApart(plan_, places_.base, adrt::HeapBytes(plan_),
                         adrt::Place::Host(desc_.status, ADRT_STATUS_BYTES), error_);
  }

  bool InHost() const { return device_.kind->host_memory; }

  // On a device whose memory is not the host's the plan keeps a block for its launches.
  bool TakeStatus() {
    if (InHost()) {
      places_.status = adrt::Place::Host(status_, sizeof status_);
      return true;
    }
    adrt::Memory& own = plan_.run_status;
    if (!own.given() && !device_.kind->allocate(device_, ADRT_STATUS_BYTES, &own, error_)) return false;
    places_.status = own.place.Part(0, ADRT_STATUS_BYTES);
    return true;
  }

  // An error of a launch is often seen only here.
  bool Wait() {
    if (queue_.Finish(error_)) return true;
    const adc::artifact::MessagePart where[] = {plan_.meta(), ": "};
    adrt::AddContext(*error_, where);
    return false;
  }

  // Whether the facts about a task may not hold for this launch, or further ones are worth knowing.
  bool IsStale(uint32_t task) const {
    const adrt::TaskPlan& sizes = plan_.tasks[task];
    return !sizes.IsSettled() || adrt::MustReadAgain(plan_, task) || adrt::MustCountTripsAgain(plan_, task) ||
           (sizes.counts ? adrt::MustCountAgain(plan_, task) : adrt::WantsCount(plan_, task));
  }

  // A budget that is too small for one task may be smaller still for another: the error says what does for
  // all. Memory for saved values that is too small is found before anything runs.
  bool SettleAll() {
    adrt_error largest = {};
    for (uint32_t task = 0; task < plan_.tasks.size(); ++task) {
      if (plan_.tasks[task].IsLate()) continue;
      bool settled =
          (!IsStale(task) || Settle(task, false)) && adrt::CheckSavedAndPromises(plan_, task, error_);
      if (!plan_.tasks[task].HasLateRows()) Trace(task, settled, 0, 0);
      if (settled) continue;
      if (error_->status != ADRT_ERROR_HEAP_TOO_SMALL) return false;
      if (error_->needed_bytes >= largest.needed_bytes) largest = *error_;
    }
    if (largest.status == ADRT_OK) return true;
    if (uint32_t late = adrt::LateFrom(plan_, 0); late != adc::artifact::kNoIndex)
      adrt::SayAtLeast(plan_, late, largest);
    adrt::PassOn(largest, error_);
    return false;
  }

  bool Settle(uint32_t task, bool at_its_turn) {
    adrt::TaskPlan& sizes = plan_.tasks[task];
    if (adrt::MustCountTripsAgain(plan_, task) && !adrt::CountTrips(plan_, task, error_)) return false;
    if (adrt::MustCountAgain(plan_, task)) sizes.counts = nullptr;
    if (!adrt::ReadAndSizeTask(plan_, task, error_)) return false;
    if (!sizes.IsSettled()) return adrt::CountTask(plan_, task, error_);
    if (sizes.counts || !adrt::WantsCount(plan_, task)) return true;
    if (at_its_turn || !adrt::CountsLate(plan_, task)) return adrt::CountTask(plan_, task, error_);
    sizes.LeaveRowsToTurn();
    return true;
  }

  // A plan's rows are part of its heap for a caller that records it.
  void LeaveLateRows() {
    for (uint32_t task = 0; task < plan_.tasks.size(); ++task) {
      if (!plan_.tasks[task].HasLateRows()) continue;
      adrt_error passed = {};
      plan_.tasks[task].ForgetLateRows();
      plan_.tasks[task].counts = nullptr;
      adrt::SizeTask(plan_, task, true, adrt::DetailsOf(nullptr, &passed));
    }
  }

  bool RunTask(uint32_t task) {
    bool at_its_turn = plan_.tasks[task].OwnRows(false);
    return (!at_its_turn || SettleLate(task)) &&
           adrt::RecordTask(plan_, task, queue_.handle(), places_, error_);
  }

  // The sizes of a late task read what earlier ones write, so these must be done; afterwards no work under
  // way uses the rows of the late task before.
  bool SettleLate(uint32_t task) {
    if (!Wait()) return false;
    ++plan_.epoch;
    uint64_t held = plan_.run_rows.place.bytes;
    bool has_rows = TakeLateRows(task);
    Trace(task, has_rows, held, plan_.run_rows.place.bytes);
    return has_rows && queue_.Begin(error_);
  }

  bool TakeLateRows(uint32_t task) {
    if (!Settle(task, true)) {
      uint32_t late = adrt::LateFrom(plan_, task + 1);
      if (error_->status == ADRT_ERROR_HEAP_TOO_SMALL && late != adc::artifact::kNoIndex)
        adrt::SayAtLeast(plan_, late, *error_);
      return false;
    }
    // Scratch is in use by now, so the rows of such a task cannot move into a larger heap: they get their
    // own.
    places_.rows = {};
    uint64_t bytes = plan_.tasks[task].heap_bytes;
    if (bytes > 0) {
      if (!adrt::GrowMemory(device_, plan_.run_rows, bytes, error_)) return false;
      places_.rows = plan_.run_rows.place.Part(0, bytes);
    }
    return true;
  }

  adrt_launch_plan& plan_;
  const adrt_run_desc& desc_;
  adrt_error* error_;
  adrt_device& device_;
  // The queue goes first when a launch fails: nothing is under way when the memory goes.
  adrt::PassingMemory passing_;
  adrt::OwnQueue queue_;
  adrt::ScratchOfLaunch scratch_{plan_};
  adrt::LaunchPlaces places_;
  adrt_run_times times_ = {};
  alignas(64) uint32_t status_[ADRT_CPU_STATUS_WORDS] = {};
};

}  // namespace

adrt_status adrt_run(adrt_launch_plan* plan, const adrt_run_desc* desc, adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan) return Fail(error, ADRT_ERROR_ARGUMENT, "run: null argument");
  if (!plan->module) return Fail(error, ADRT_ERROR_ARGUMENT, "run: the plan was made without a module");
  adrt_run_desc wanted = {};
  if (desc && !adrt::CopyDescriptor(desc, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "run: ", adrt::kNotSet);
  }
  adrt::Alive(__func__, wanted.heap);
  if (reinterpret_cast<uintptr_t>(wanted.status) % alignof(uint32_t) != 0) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "run: status is not aligned to 4 bytes");
  }
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt::BeginSteps(*plan);
  Launcher launcher(*plan, wanted, details);
  if (!launcher.Run()) return details->status;
  // Sizes did not hold: the next launch reads and counts again, whatever the content versions say.
  uint32_t code = launcher.status()[ADRT_CPU_STATUS_CODE];
  bool overflow =
      code == ADRT_CPU_ADSTACK_OVERFLOW || code == ADRT_GPU_ROWS_EXHAUSTED || code == ADRT_CPU_BOUNDS_MOVED;
  if (wanted.times && !adrt::CopyReport(launcher.times(), wanted.times)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "run: struct_size of the times is not set");
  }
  if (wanted.status) std::memcpy(wanted.status, launcher.status(), ADRT_STATUS_BYTES);
  adrt_status status = adrt_status_read(plan, launcher.status(), error);
  for (uint32_t task = 0; task < plan->tasks.size() && overflow; ++task) adrt::ForgetSizes(*plan, task);
  return status;
}

#include <algorithm>
#include <atomic>
#include <cstring>

#include "artifact/cpu_abi.h"
#include "artifact/cpu_features.h"
#include "artifact/heap_sort.h"
#include "artifact/processor.h"
#include "core/code.h"
#include "core/errors.h"
#include "core/heap.h"
#include "core/host.h"
#include "core/launch.h"
#include "cpu/features.h"
#include "cpu/image.h"
#include "cpu/pool.h"
#include "cpu/work.h"
#include "platform/platform.h"

// The CPU as a device: shared images mapped into the process, tasks dealt to the caller's jobs or to a small
// pool.

using adrt::Fail;

namespace adrt {
namespace {

constexpr uint32_t kMaxWorkers = 4096;

struct CpuDevice : adrt_device {
  CpuDevice(const Host& from, const DeviceKind* its_kind, uint32_t workers)
      : adrt_device(from, its_kind, workers) {}

  uint64_t features = ProcessorFeatures();
  adrt_cpu_jobs jobs = {};  ///< parallel_for is null without the caller's job system
  Pool* pool = nullptr;
};

bool Judge(const adrt_device& device, const artifact::TargetMeta& target, uint32_t* rank,
           artifact::TextWriter& reason) {
  return JudgeCpuTarget(static_cast<const CpuDevice&>(device).features, ProcessorArch(), target, rank,
                        reason);
}

void Features(const adrt_device& device, artifact::TextWriter& text) {
  bool first = true;
  for (uint32_t index = 0; index < artifact::kX86FeatureCount; ++index) {
    if (!(static_cast<const CpuDevice&>(device).features >> index & 1)) continue;
    text << (first ? "" : " ") << artifact::X86FeatureName(static_cast<artifact::X86Feature>(index));
    first = false;
  }
}

// Every entry that the metadata promises must be there, so that a launch cannot find it missing.
bool FindEntries(adrt_module& module, const Image& image, adrt_error* error) {
  Vector<Image::Wanted> wanted(&module.host.allocator);
  for (EntryWalk walk; NextEntry(module, &walk);) {
    if (!wanted.TryPush({walk.meta->symbol})) return OutOfMemory(error) == ADRT_OK;
  }
  artifact::HeapSort(
      wanted, [](const Image::Wanted& left, const Image::Wanted& right) { return left.name < right.name; });
  image.FindAll({wanted.data(), wanted.size()});
  for (EntryWalk walk; NextEntry(module, &walk);) {
    auto is_before = [](const Image::Wanted& one, std::string_view name) { return one.name < name; };
    std::string_view symbol = walk.meta->symbol;
    module.entries[walk.slot] =
        std::lower_bound(wanted.begin(), wanted.end(), symbol, is_before)->address;  // it was put there
    if (module.entries[walk.slot]) continue;
    Fail(error, ADRT_ERROR_MALFORMED, "the image of target '",
         module.bundle->metadata.targets[module.target].name.view(), "' has no function '",
         walk.meta->symbol.view(), "' for kernel '", walk.kernel_meta->name.view(), "'");
    error->rule = static_cast<uint32_t>(artifact::Rule::kH10);
    return false;
  }
  return true;
}

bool Load(adrt_module& module, adrt_error* error) {
  const artifact::Allocator* allocator = &module.host.allocator;
  Vector<uint8_t> bytes(allocator);
  uint32_t number = 0;
  if (!ReadCode(module, &bytes, &number, error)) return false;
  Image* image = New<Image>(*allocator);
  if (!image) return OutOfMemory(error) == ADRT_OK;
  if (!image->Map({bytes.data(), bytes.size()}, error) || !FindEntries(module, *image, error)) {
    error->section = number;
    Delete(*allocator, image);
    return false;
  }
  module.code = image;
  return true;
}

void Unload(adrt_module& module) {
  if (module.code) Delete(module.host.allocator, static_cast<Image*>(module.code));
}

// The iterations of a task, dealt in chunks: each job owns one row and takes chunks until there are none.
struct Deal {
  CpuWork work;
  alignas(std::atomic_ref<uint64_t>::required_alignment) uint64_t next = 0;
};

void RunJob(void* context, uint32_t index) {
  Deal& deal = *static_cast<Deal*>(context);
  RunWork(deal.work, index, std::atomic_ref(deal.next));
}

bool Launch(adrt_device& device, void* queue, const LaunchTask& task, adrt_error* error) {
  if (queue) return static_cast<CpuQueue*>(queue)->launch(*static_cast<CpuQueue*>(queue), task, error);
  Deal deal;
  deal.work = {task.entry,
               task.cells.data(),
               task.words.data(),
               task.heap.host(),
               reinterpret_cast<uint32_t*>(task.status.host()),
               task.total,
               task.chunk};
  return RunOnWorkers(device, static_cast<uint32_t>(task.threads), RunJob, &deal, error);
}

// The jobs of one call, and how many of them have ended.
struct Jobs {
  void (*job)(void* context, uint32_t index);
  void* context;
  std::atomic<uint32_t> done{0};
};

void RunAndCount(void* context, uint32_t index) {
  Jobs& jobs = *static_cast<Jobs*>(context);
  jobs.job(jobs.context, index);
  jobs.done.fetch_add(1, std::memory_order_release);
}

void Destroy(adrt_device& device) {
  CpuDevice* cpu = static_cast<CpuDevice*>(&device);
  if (cpu->pool) Delete(cpu->host.allocator, cpu->pool);
  Delete(cpu->host.allocator, cpu);
}

bool Bind(const adrt_device&, const void* data, Place* place, artifact::TextWriter&) {
  *place = Place::Host(data, UINT64_MAX);
  return true;
}

bool Write(adrt_device&, const Place& to, const void* from, uint64_t bytes, adrt_error*) {
  std::memcpy(to.host(), from, bytes);
  return true;
}

bool Read(adrt_device&, const Place& from, void* to, uint64_t bytes, adrt_error*) {
  std::memcpy(to, from.host(), bytes);
  return true;
}

bool Clear(adrt_device&, void* queue, const Place& place, adrt_error* error) {
  if (queue) return static_cast<CpuQueue*>(queue)->clear(*static_cast<CpuQueue*>(queue), place, error);
  std::memset(place.host(), 0, place.bytes);
  return true;
}

#if defined(ADC_X86_64)
constexpr const char* kArch = "x86-64";
#else
constexpr const char* kArch = "aarch64";
#endif
constexpr DeviceKind kCpu = {
    .name = "cpu",
    .payload = artifact::section::kImage,
    .host_memory = true,
    .judge = Judge,
    .load = Load,
    .unload = Unload,
    .destroy = Destroy,
    .features = Features,
    .bind = Bind,
    .data = [](const Memory& memory) -> void* { return memory.place.host(); },
    .allocate = [](adrt_device& device, uint64_t bytes, Memory* memory,
                   adrt_error* error) { return TakeHost(device.host.allocator, bytes, memory, error); },
    .release = [](adrt_device& device, Memory& memory) { ReleaseHost(device.host.allocator, memory); },
    .write = Write,
    .read = Read,
    .begin = [](adrt_device&, void**, adrt_error*) { return true; },
    .finish = [](adrt_device&, void*, adrt_error*) { return true; },
    .drop = [](adrt_device&, void*) {},
    .clear = Clear,
    .launch = Launch,
    .barrier = nullptr,
};

// A device without threads; null with the status set where the host is wrong or refuses memory.
CpuDevice* MakeCpu(const adrt_host* host, uint32_t workers, adrt_status* status, adrt_error* error) {
  Host made;
  if (!MakeHost(host, &made, error)) {
    *status = ADRT_ERROR_ARGUMENT;
    return nullptr;
  }
  CpuDevice* cpu = New<CpuDevice>(made.allocator, made, &kCpu, workers);
  *status = cpu ? ADRT_OK : OutOfMemory(error);
  if (cpu) artifact::TextWriter(cpu->arch, sizeof cpu->arch) << kArch;
  return cpu;
}

}  // namespace

ADC_CALLS_FOREIGN_CODE void RunWork(const CpuWork& work, uint32_t row, std::atomic_ref<uint64_t> next) {
  adrt_cpu_frame frame = {work.cells, work.adstack, work.heap, work.status, row};
  adrt_cpu_entry entry = reinterpret_cast<adrt_cpu_entry>(work.entry);
  while (true) {
    uint64_t begin = next.fetch_add(work.chunk, std::memory_order_relaxed);
    if (begin >= work.total) break;
    uint64_t left = work.total - begin;
    entry(&frame, begin, begin + (left < work.chunk ? left : work.chunk));
  }
}

bool RunOnWorkers(adrt_device& device, uint32_t count, void (*job)(void* context, uint32_t index),
                  void* context, adrt_error* error) {
  CpuDevice& cpu = static_cast<CpuDevice&>(device);
  if (count > 1 && cpu.jobs.parallel_for) {
    Jobs jobs{job, context};
    cpu.jobs.parallel_for(cpu.jobs.user, count, RunAndCount, &jobs);
    // Whose job is dropped, or still under way, has not done what this launch goes on to use.
    uint32_t done = jobs.done.load(std::memory_order_acquire);
    if (done != count) {
      return Refuse(error, ADRT_ERROR_DRIVER, "the caller's parallel_for returned after ", done, " of ",
                    count, " jobs");
    }
  } else if (count > 1 && cpu.pool && !cpu.pool->IsHere()) {
    return Refuse(error, ADRT_ERROR_DRIVER,
                  "the device's threads stayed in the process that forked: open a device in this one");
  } else if (count > 1 && cpu.pool) {
    cpu.pool->Run(count, job, context);
  } else {
    for (uint32_t index = 0; index < count; ++index) job(context, index);
  }
  return true;
}

}  // namespace adrt

adrt_status adrt_device_wrap_cpu(const adrt_host* host, const adrt_cpu_jobs* jobs, adrt_device** device,
                                 adrt_error* error) {
  if (!device) return Fail(error, ADRT_ERROR_ARGUMENT, "device_wrap_cpu: null argument");
  adrt_cpu_jobs wanted = {};
  if (jobs && !adrt::CopyDescriptor(jobs, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_wrap_cpu: ", adrt::kNotSet);
  }
  if (jobs && (!wanted.parallel_for || wanted.worker_count == 0 || wanted.worker_count > adrt::kMaxWorkers)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_wrap_cpu: needs parallel_for and 1 to ",
                adrt::kMaxWorkers, " workers");
  }
  adrt_status status = ADRT_OK;
  adrt::CpuDevice* cpu = adrt::MakeCpu(host, jobs ? wanted.worker_count : 1, &status, error);
  if (!cpu) return status;
  cpu->jobs = wanted;
  *device = cpu;
  return ADRT_OK;
}

adrt_status adrt_device_open_cpu(const adrt_host* host, uint32_t worker_count, adrt_device** device,
                                 adrt_error* error) {
  if (!device) return Fail(error, ADRT_ERROR_ARGUMENT, "device_open_cpu: null argument");
  if (worker_count > adrt::kMaxWorkers) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "device_open_cpu: at most ", adrt::kMaxWorkers, " workers");
  }
  if (worker_count == 0) {
    constexpr uint32_t kMostByDefault = 256;
    worker_count = std::min(adrt::platform::ProcessorCount(), kMostByDefault);
  }
  adrt_status status = ADRT_OK;
  adrt::CpuDevice* cpu = adrt::MakeCpu(host, worker_count, &status, error);
  if (!cpu) return status;
  if (worker_count > 1) {
    adrt_error own = {};
    adrt_error* details = adrt::DetailsOf(error, &own);
    cpu->pool = adrt::New<adrt::Pool>(cpu->host.allocator);
    if (!cpu->pool) adrt::OutOfMemory(details);
    if (!cpu->pool || !cpu->pool->Start(worker_count - 1, &cpu->host.allocator, details)) {
      status = details->status;
      adrt_device_release(cpu);
      return status;
    }
  }
  *device = cpu;
  return ADRT_OK;
}

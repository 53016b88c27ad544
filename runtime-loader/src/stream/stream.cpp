#include "stream/stream.h"

#include <cstring>

#include "artifact/gpu_abi.h"
#include "core/code.h"
#include "core/errors.h"
#include "core/launch.h"

namespace adrt {
namespace {

StreamDevice& Of(adrt_device& device) {
  return static_cast<StreamDevice&>(device);
}

}  // namespace

bool StreamDevice::Failed(int code, StreamCall call, adrt_error* error) const {
  // The suffix is the library's, not the documentation's.
  char name[64] = {};
  std::string_view exported = driver.names[static_cast<size_t>(call)];
  if (exported.ends_with("_v2")) exported.remove_suffix(3);
  artifact::TextWriter(name, sizeof name) << exported;
  return driver.failed(*this, code, name, error);
}

namespace stream {

// -------------------------------------------------------------------------------------------------- memory

bool Bind(const adrt_device&, const void* data, Place* place, artifact::TextWriter&) {
  *place = Place::Host(data, UINT64_MAX);  // an address, though of the device
  return true;
}

void* Data(const Memory& memory) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(memory.place.address));
}

bool Allocate(adrt_device& device, uint64_t bytes, Memory* memory, adrt_error* error) {
  const StreamDevice& own = Of(device);
  Current current(own, error);
  if (!current) return false;
  uint64_t address = 0;
  int code = own.stream_api.MemoryAllocate(&address, bytes);
  if (code == 0) {
    memory->place = {0, 0, bytes, address};
    return true;
  }
  own.Failed(code, StreamCall::MemoryAllocate, error);
  if (code != own.driver.out_of_memory) return false;
  size_t free_bytes = 0, total = 0;
  if (own.stream_api.MemoryInfo(&free_bytes, &total) == 0) {
    Fail(error, ADRT_ERROR_OUT_OF_DEVICE_MEMORY, "the device cannot allocate ", bytes,
         " bytes: ", uint64_t{free_bytes}, " of its ", uint64_t{total}, " bytes are free");
    error->native_code = code;
  }
  error->needed_bytes = bytes;
  return false;
}

void Release(adrt_device& device, Memory& memory) {
  const StreamDevice& own = Of(device);
  if (Current current(own, nullptr); current) own.stream_api.MemoryFree(memory.place.address);
  memory = {};
}

bool Write(adrt_device& device, const Place& to, const void* from, uint64_t bytes, adrt_error* error) {
  const StreamDevice& own = Of(device);
  Current current(own, error);
  if (!current) return false;
  int code = own.stream_api.CopyToDevice(to.address, from, bytes);
  return code == 0 || own.Failed(code, StreamCall::CopyToDevice, error);
}

bool Read(adrt_device& device, const Place& from, void* to, uint64_t bytes, adrt_error* error) {
  const StreamDevice& own = Of(device);
  Current current(own, error);
  if (!current) return false;
  int code = own.stream_api.CopyToHost(to, from.address, bytes);
  return code == 0 || own.Failed(code, StreamCall::CopyToHost, error);
}

// ------------------------------------------------------------------------------------------------ launches

bool Begin(adrt_device& device, void** queue, adrt_error*) {
  *queue = Of(device).stream;
  return true;
}

void Drop(adrt_device& device, void* queue) {
  const StreamDevice& own = Of(device);
  if (Current current(own, nullptr); current) own.stream_api.StreamSynchronize(queue);
}

bool Finish(adrt_device& device, void* queue, adrt_error* error) {
  const StreamDevice& own = Of(device);
  {
    Current current(own, error);
    if (current) {
      int code = own.stream_api.StreamSynchronize(queue);
      return code == 0 || own.Failed(code, StreamCall::StreamSynchronize, error);
    }
  }
  // Queued work uses memory that goes when this fails: it is waited for all the same.
  Drop(device, queue);
  return false;
}

bool Clear(adrt_device& device, void* queue, const Place& place, adrt_error* error) {
  const StreamDevice& own = Of(device);
  Current current(own, error);
  if (!current) return false;
  int code = own.stream_api.FillWords(place.address, 0, place.bytes / sizeof(uint32_t), queue);
  return code == 0 || own.Failed(code, StreamCall::FillWords, error);
}

namespace {

struct Grid {
  uint64_t blocks = 1;
  uint32_t block_size = 1;
};

/// Queues a function; the driver copies its parameters. The device is current.
bool Queue(const StreamDevice& device, void* stream, void* function, const Grid& grid,
           std::span<const uint64_t> parameters, adrt_error* error) {
  // CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE, and HIP's, which are the same.
  void *const kPointer = reinterpret_cast<void*>(uintptr_t{1}), *const kSize =
                                                                    reinterpret_cast<void*>(uintptr_t{2});
  size_t bytes = parameters.size_bytes();
  void* extra[] = {kPointer, const_cast<uint64_t*>(parameters.data()), kSize, &bytes,
                   device.driver.launch_end};
  int code = device.stream_api.LaunchKernel(function, static_cast<unsigned>(grid.blocks), 1, 1,
                                            grid.block_size, 1, 1, 0, stream, nullptr, extra);
  return code == 0 || device.Failed(code, StreamCall::LaunchKernel, error);
}

/// A launch with more words than there are parameters (artifact/gpu_abi.h): its table is written first.
bool LaunchWithTable(const StreamDevice& device, void* stream, const LaunchTask& task, const Grid& grid,
                     adrt_error* error) {
  size_t table_end = task.words.size() - ADRT_GPU_TAIL_WORDS;
  std::span<const uint64_t> table = task.words.first(table_end).subspan(ADRT_GPU_DIRECT_WORDS);
  const uint64_t address = task.words_place.address;
  for (size_t begin = 0; begin < table.size(); begin += ADRT_GPU_TABLE_CHUNK) {
    uint64_t chunk[1 + ADRT_GPU_TABLE_CHUNK] = {address + begin * sizeof(uint64_t)};
    std::span<const uint64_t> rest = table.subspan(begin);
    if (rest.size() > ADRT_GPU_TABLE_CHUNK) rest = rest.first(ADRT_GPU_TABLE_CHUNK);
    std::memcpy(chunk + 1, rest.data(), rest.size_bytes());
    if (!Queue(device, stream, task.table_writer, {}, chunk, error)) return false;
  }
  uint64_t parameters[ADRT_GPU_MAX_WORDS];
  std::memcpy(parameters, task.words.data(), ADRT_GPU_DIRECT_WORDS * sizeof(uint64_t));
  parameters[ADRT_GPU_DIRECT_WORDS] = address;
  std::memcpy(parameters + ADRT_GPU_DIRECT_WORDS + 1, task.words.data() + table_end,
              ADRT_GPU_TAIL_WORDS * sizeof(uint64_t));
  return Queue(device, stream, task.entry, grid, parameters, error);
}

}  // namespace

bool Launch(adrt_device& device, void* queue, const LaunchTask& task, adrt_error* error) {
  const StreamDevice& own = Of(device);
  Current current(own, error);
  if (!current) return false;
  Grid grid = {task.blocks, task.block_size};
  if (task.words.size() > ADRT_GPU_MAX_WORDS) return LaunchWithTable(own, queue, task, grid, error);
  return Queue(own, queue, task.entry, grid, task.words, error);
}

// ------------------------------------------------------------------------------------- modules and devices

namespace {

bool FindFunction(const adrt_module& module, void* code, const char* name, void** function,
                  adrt_error* error) {
  const StreamDevice& own = Of(*module.device);
  int result = own.stream_api.ModuleGetFunction(function, code, name);
  return result == 0 || own.Failed(result, StreamCall::ModuleGetFunction, error);
}

}  // namespace

bool HasTables(const adrt_module& module) {
  std::string_view kind = module.bundle->metadata.targets[module.target].kind.view();
  artifact::RowRules rules = artifact::RowRulesOf(kind, /*lanes=*/1);
  for (EntryWalk walk; NextEntry(module, &walk);) {
    const artifact::AdstackPlanMeta* adstack =
        AdstackPlanOf(walk.kernel_meta->tasks[walk.task], module.target);
    size_t words = artifact::LaunchWordCount(artifact::CellCount(*walk.kernel_meta), adstack, rules);
    if (artifact::TableWordCount(words, rules) > 0) return true;
  }
  return false;
}

bool FindTableWriter(adrt_module& module, void* code, adrt_error* error) {
  return FindFunction(module, code, ADRT_GPU_TABLE_WRITER, &module.table_writer, error);
}

bool FindEntries(adrt_module& module, void* code, uint32_t begin, uint32_t end, adrt_error* error) {
  const StreamDevice& own = Of(*module.device);
  EntryWalk walk;
  walk.kernel = begin;
  while (NextEntry(module, &walk) && walk.kernel < end) {
    void* function = nullptr;
    if (!FindFunction(module, code, walk.meta->symbol.c_str(), &function, error)) return false;
    module.entries[walk.slot] = function;
    uint32_t block_size = BlockSize(*walk.meta);
    int blocks = 0;
    int result = own.stream_api.MaxActiveBlocks(&blocks, function, static_cast<int>(block_size), 0);
    if (result != 0) return own.Failed(result, StreamCall::MaxActiveBlocks, error);
    if (blocks < 1) {
      return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, *walk.kernel_meta, ": the device cannot run blocks of ",
                    block_size, " threads of it");
    }
    module.entry_threads[walk.slot] =
        static_cast<uint32_t>(blocks) * own.processors * (walk.meta->team ? 1 : block_size);
  }
  return true;
}

bool MakeStream(StreamDevice& device, adrt_error* error) {
  constexpr unsigned kOrderedWithDefault = 0;
  int code = device.stream_api.StreamCreate(&device.stream, kOrderedWithDefault);
  return code == 0 || device.Failed(code, StreamCall::StreamCreate, error);
}

void DestroyStream(StreamDevice& device) {
  if (!device.stream) return;
  if (Current current(device, nullptr); current) device.stream_api.StreamDestroy(device.stream);
}

adrt_status Record(const DeviceKind* kind, const StreamDriver& driver, adrt_launch_plan* plan, void* stream,
                   void* heap, uint64_t heap_size, void* status, adrt_error* error) {
  if (!plan) return Fail(error, ADRT_ERROR_ARGUMENT, driver.record, ": null argument");
  if (!plan->module || plan->module->device->kind != kind) {
    return Fail(error, ADRT_ERROR_ARGUMENT, driver.record, ": the plan has no module for a ", driver.what,
                " device");
  }
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  Place heap_place, status_place;
  if (heap) heap_place = Place::Host(heap, heap_size);
  if (status) status_place = Place::Host(status, ADRT_STATUS_BYTES);
  bool done = RecordLaunch(*plan, stream, heap_place, status_place, details);
  return done ? ADRT_OK : details->status;
}

adrt_status RecordSize(const DeviceKind* kind, const StreamDriver& driver, adrt_launch_plan* plan,
                       void* stream, void* memory, uint64_t memory_size, adrt_error* error) {
  if (!plan) return Fail(error, ADRT_ERROR_ARGUMENT, driver.record_size, ": null argument");
  if (!plan->module || plan->module->device->kind != kind) {
    return Fail(error, ADRT_ERROR_ARGUMENT, driver.record_size, ": the plan has no module for a ",
                driver.what, " device");
  }
  adrt_error own = {};
  adrt_error* details = DetailsOf(error, &own);
  Place place;
  if (memory) place = Place::Host(memory, memory_size);
  return RecordCounting(*plan, stream, place, details) ? ADRT_OK : details->status;
}

}  // namespace stream
}  // namespace adrt

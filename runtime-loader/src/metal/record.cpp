#include "artifact/gpu_abi.h"
#include "core/errors.h"
#include "core/launch.h"
#include "metal/device.h"

// Recording into a command buffer. Clearing and dispatching need encoders of different kinds; whichever is
// needed is opened when it is, and work in an encoder begins when that of earlier encoders is done.
//
// A queue, as the core passes it around, is a Recorder.

namespace adrt::metal {
namespace {

constexpr size_t kMostBytes = 4096;  // that setBytes takes
static_assert(sizeof(uint64_t) * ADRT_GPU_MAX_WORDS <= kMostBytes);

// The memory of a binding. Every index that a kernel declares must be bound: a parameter without elements and
// a heap without rows, which no thread touches, get the status block.
Place PlaceOf(const LaunchTask& task, const artifact::BindingMeta& binding) {
  Place place;
  switch (binding.of) {
    case artifact::BindingOf::kParam:
      place = task.params[binding.param].place;
      break;
    case artifact::BindingOf::kHeap:
      place = task.heap;
      break;
    case artifact::BindingOf::kStatus:
    case artifact::BindingOf::kWords:
      break;
  }
  return place.given() ? place : task.status;
}

// Buffers that do not fit into Metal's table of buffers go through a table of addresses, which is the last of
// them.
class AddressTable {
 public:
  static constexpr uint32_t kMostAddresses = kMostBytes / sizeof(uint64_t);

  bool Put(const Device& device, void* encoder, const Place& place, uint32_t index, adrt_error* error) {
    const adrt_metal_api& api = *device.api;
    uint64_t address = api.address(api.user, BufferOf(place));
    if (address == 0) {
      return Refuse(error, ADRT_ERROR_DEVICE_FEATURE, "a kernel with more than ", int32_t{ADRT_METAL_TABLE},
                    " buffers needs a system that reports their device addresses (macOS 13, iOS 16)");
    }
    if (index >= kMostAddresses) {
      return Refuse(error, ADRT_ERROR_OVER_LIMIT, "a launch passes at most ", kMostAddresses, " addresses");
    }
    api.use_buffer(api.user, encoder, BufferOf(place));
    addresses_[index] = address + place.offset;
    if (count_ <= index) count_ = index + 1;
    return true;
  }
  void Pass(const Device& device, void* encoder) const {
    if (count_ == 0) return;
    device.api->set_bytes(device.api->user, encoder, addresses_, count_ * sizeof(uint64_t), ADRT_METAL_TABLE);
  }

 private:
  uint64_t addresses_[kMostAddresses] = {};
  uint32_t count_ = 0;
};

}  // namespace

void* Recorder::Open(const Device& device, Kind kind, adrt_error* error) {
  if (open == kind) return encoder;
  Close(device);
  const adrt_metal_api& api = *device.api;
  bool compute = kind == Kind::kCompute;
  encoder = compute ? api.begin_compute(api.user, commands) : api.begin_copy(api.user, commands);
  if (encoder) {
    open = kind;
  } else {
    Fail(error, ADRT_ERROR_DRIVER, compute ? "computeCommandEncoder" : "blitCommandEncoder",
         " gave no encoder");
  }
  return encoder;
}

void Recorder::Close(const Device& device) {
  if (open != Kind::kNone) device.api->end(device.api->user, encoder);
  encoder = nullptr;
  open = Kind::kNone;
}

bool Begin(adrt_device& base, void** queue, adrt_error* error) {
  Device& device = Of(base);
  void* commands = device.api->new_commands(device.api->user, device.queue);
  if (!commands) return Refuse(error, ADRT_ERROR_DRIVER, "commandBuffer gave no command buffer");
  *queue = New<Recorder>(device.host.allocator, commands);
  if (*queue) return true;
  device.api->release(device.api->user, commands);
  return OutOfMemory(error) == ADRT_OK;
}

bool Finish(adrt_device& base, void* queue, adrt_error* error) {
  Device& device = Of(base);
  Recorder& recorder = *static_cast<Recorder*>(queue);
  recorder.Close(device);
  char text[256] = {};
  int32_t code = 0;
  int32_t outcome =
      device.api->commit_and_wait(device.api->user, recorder.commands, &code, text, sizeof text);
  Drop(device, queue);
  if (outcome == ADRT_METAL_DONE) return true;
  adrt_status status = outcome == ADRT_METAL_OUT_OF_MEMORY ? ADRT_ERROR_OUT_OF_DEVICE_MEMORY
                       : outcome == ADRT_METAL_LOST        ? ADRT_ERROR_DEVICE_LOST
                                                           : ADRT_ERROR_DRIVER;
  Fail(error, status, "the command buffer failed with code ", code, ": ", text);
  error->native_code = code;
  return false;
}

void Drop(adrt_device& base, void* queue) {
  Device& device = Of(base);
  Recorder* recorder = static_cast<Recorder*>(queue);
  recorder->Close(device);
  device.api->release(device.api->user, recorder->commands);
  Delete(device.host.allocator, recorder);
}

bool Clear(adrt_device& base, void* queue, const Place& place, adrt_error* error) {
  Device& device = Of(base);
  void* encoder = static_cast<Recorder*>(queue)->Open(device, Recorder::Kind::kCopy, error);
  if (!encoder) return false;
  device.api->fill_zero(device.api->user, encoder, BufferOf(place), place.offset, place.bytes);
  return true;
}

bool Launch(adrt_device& base, void* queue, const LaunchTask& task, adrt_error* error) {
  Device& device = Of(base);
  const adrt_metal_api& api = *device.api;
  if (task.words.size() > ADRT_GPU_MAX_WORDS) {
    return Refuse(error, ADRT_ERROR_OVER_LIMIT, "'", task.meta->symbol.view(), "' takes ", task.words.size(),
                  " words, a launch passes at most ", int32_t{ADRT_GPU_MAX_WORDS});
  }
  void* encoder = static_cast<Recorder*>(queue)->Open(device, Recorder::Kind::kCompute, error);
  if (!encoder) return false;
  api.set_pipeline(api.user, encoder, task.entry);
  AddressTable table;
  for (const artifact::BindingMeta& binding : task.meta->bindings) {
    if (binding.of == artifact::BindingOf::kWords) {
      api.set_bytes(api.user, encoder, task.words.data(), task.words.size_bytes(), binding.number);
      continue;
    }
    Place place = PlaceOf(task, binding);
    if (binding.number < ADRT_METAL_TABLE) {
      api.set_buffer(api.user, encoder, BufferOf(place), place.offset, binding.number);
    } else if (!table.Put(device, encoder, place, binding.number - ADRT_METAL_TABLE, error)) {
      return false;
    }
  }
  table.Pass(device, encoder);
  api.dispatch(api.user, encoder, static_cast<uint32_t>(task.blocks), task.block_size);
  return true;
}

bool Barrier(adrt_device& base, void* queue, adrt_error*) {
  Device& device = Of(base);
  Recorder& recorder = *static_cast<Recorder*>(queue);
  if (recorder.open == Recorder::Kind::kCompute) device.api->barrier(device.api->user, recorder.encoder);
  return true;
}

}  // namespace adrt::metal

using adrt::Fail;

adrt_status adrt_record_metal(adrt_launch_plan* plan, void* command_buffer, const adrt_metal_launch* launch,
                              adrt_error* error) {
  adrt::Alive(__func__, plan);
  adrt_error own = {};
  own.struct_size = sizeof own;
  adrt_error* details = error && error->struct_size >= sizeof(adrt_error) ? error : &own;
  adrt_metal_launch wanted = {};
  if (!plan || !command_buffer || !launch) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_metal: null argument");
  }
  if (!adrt::CopyDescriptor(launch, &wanted)) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_metal: ", adrt::kNotSet);
  }
  if (!plan->module || plan->module->device->kind != adrt::metal::MetalKind()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_metal: the plan was not made for a Metal device");
  }
  adrt::metal::Device& device = adrt::metal::Of(*plan->module->device);
  adrt::Place places[2];
  const adrt_metal_buffer* given[] = {wanted.heap, wanted.status};
  for (int n = 0; n < 2; ++n) {
    char text[160] = {};
    adrt::artifact::TextWriter reason(text, sizeof text);
    if (given[n] && !adrt::metal::Bind(device, given[n], &places[n], reason)) {
      return Fail(error, ADRT_ERROR_ARGUMENT, "record_metal: the ", n == 0 ? "heap " : "status block ", text);
    }
  }
  adrt::metal::Recorder recorder(command_buffer);
  bool done = adrt::RecordLaunch(*plan, &recorder, places[0], places[1], details);
  recorder.Close(device);
  return done ? ADRT_OK : details->status;
}

adrt_status adrt_record_size_metal(adrt_launch_plan* plan, void* command_buffer,
                                   const adrt_metal_buffer* memory, adrt_error* error) {
  adrt::Alive(__func__, plan);
  if (!plan || !command_buffer || !memory) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_size_metal: null argument");
  }
  if (!plan->module || plan->module->device->kind != adrt::metal::MetalKind()) {
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_size_metal: the plan was not made for a Metal device");
  }
  adrt::metal::Device& device = adrt::metal::Of(*plan->module->device);
  char text[160] = {};
  adrt::artifact::TextWriter reason(text, sizeof text);
  adrt::Place place;
  if (!adrt::metal::Bind(device, memory, &place, reason))
    return Fail(error, ADRT_ERROR_ARGUMENT, "record_size_metal: the memory ", text);
  adrt_error own = {};
  adrt_error* details = adrt::DetailsOf(error, &own);
  adrt::metal::Recorder recorder(command_buffer);
  bool done = adrt::RecordCounting(*plan, &recorder, place, details);
  recorder.Close(device);
  return done ? ADRT_OK : details->status;
}

#pragma once
// The common parts of NVIDIA's driver and AMD's runtime, which have names of their own there: plain
// addresses, streams that keep order, modules of functions, parameters handed over as one buffer. A launch's
// words are its parameters.
//
// Every function makes the device the thread's current one and takes that back again, so that the caller
// never notices. adrt_run uses one stream of the device: one that keeps order with the default stream, so
// that it sees the data that the caller copied with plain calls.

#include <cstddef>
#include <cstdint>

#include "core/handles.h"

/// One pointer per row of calls.def, in its order.
struct adrt_stream_api {
#define ADRT_STREAM_CALL(name, cuda, hip, parameters) int(*name) parameters;
#include "stream/calls.def"
#undef ADRT_STREAM_CALL
};

/// The same of graph_calls.def, null where the driver has no such function.
struct adrt_graph_api {
#define ADRT_GRAPH_CALL(name, cuda, hip, parameters) int(*name) parameters;
#include "stream/graph_calls.def"
#undef ADRT_GRAPH_CALL
};

namespace adrt {

enum class StreamCall : uint8_t {
#define ADRT_STREAM_CALL(name, cuda, hip, parameters) name,
#include "stream/calls.def"
#undef ADRT_STREAM_CALL
};
inline constexpr size_t kStreamCalls = sizeof(adrt_stream_api) / sizeof(void*);

enum class GraphCall : uint8_t {
#define ADRT_GRAPH_CALL(name, cuda, hip, parameters) name,
#include "stream/graph_calls.def"
#undef ADRT_GRAPH_CALL
};
inline constexpr size_t kGraphCalls = sizeof(adrt_graph_api) / sizeof(void*);

struct StreamDevice;

/// How one driver differs from the other.
struct StreamDriver {
  const char* const* names;        ///< of the functions, by StreamCall
  const char* const* graph_names;  ///< by GraphCall
  const char* what;                ///< "CUDA", for messages
  const char* record;              ///< "record_cuda"
  const char* record_size;         ///< "record_size_cuda"
  int out_of_memory;               ///< the code that says so
  void* launch_end;                ///< ends the list that hands over a buffer of parameters
  /// Makes the device the thread's current one. The device that was current goes to `before`. Null error:
  /// nothing is reported.
  bool (*enter)(const StreamDevice& device, int* before, adrt_error* error);
  void (*leave)(const StreamDevice& device, int before);
  /// Reports that `call` gave `code`, by name and number. Always false.
  bool (*failed)(const StreamDevice& device, int code, const char* call, adrt_error* error);
};

struct StreamDevice : adrt_device {
  StreamDevice(const Host& from, const DeviceKind* its_kind, const StreamDriver& its_driver)
      : adrt_device(from, its_kind, 1), driver(its_driver) {}

  const StreamDriver& driver;
  adrt_stream_api stream_api = {};
  adrt_graph_api graph_api = {};
  void* stream = nullptr;  ///< of adrt_run
  uint32_t processors = 0;

  bool Failed(int code, StreamCall call, adrt_error* error) const;
};

/// The device as the thread's current one, for a scope.
class Current {
 public:
  Current(const StreamDevice& device, adrt_error* error)
      : device_(device), entered_(device.driver.enter(device, &before_, error)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    if (entered_) device_.driver.leave(device_, before_);
  }
  explicit operator bool() const { return entered_; }

 private:
  const StreamDevice& device_;
  int before_ = 0;
  bool entered_;
};

/// The functions of a DeviceKind that are the same for both.
namespace stream {

bool Bind(const adrt_device& device, const void* data, Place* place, artifact::TextWriter& reason);
void* Data(const Memory& memory);
bool Allocate(adrt_device& device, uint64_t bytes, Memory* memory, adrt_error* error);
void Release(adrt_device& device, Memory& memory);
bool Write(adrt_device& device, const Place& to, const void* from, uint64_t bytes, adrt_error* error);
bool Read(adrt_device& device, const Place& from, void* to, uint64_t bytes, adrt_error* error);
bool Begin(adrt_device& device, void** queue, adrt_error* error);
bool Finish(adrt_device& device, void* queue, adrt_error* error);
void Drop(adrt_device& device, void* queue);
bool Clear(adrt_device& device, void* queue, const Place& place, adrt_error* error);
bool Launch(adrt_device& device, void* queue, const LaunchTask& task, adrt_error* error);

/// The entries of the kernels from `begin` up to `end`, which `code` (what the driver loaded) has, and how
/// many threads of each the device runs at once: the rows of a task should be no more. The device is current.
bool FindEntries(adrt_module& module, void* code, uint32_t begin, uint32_t end, adrt_error* error);
/// Whether launches of any kernel have more words than parameters, so that the module needs a table writer.
bool HasTables(const adrt_module& module);
/// The table writer, which `code` has. The device is current.
bool FindTableWriter(adrt_module& module, void* code, adrt_error* error);
/// The stream of adrt_run. The device is current.
bool MakeStream(StreamDevice& device, adrt_error* error);
void DestroyStream(StreamDevice& device);
/// Launches a sequence as one graph. graph.cpp
bool RecordSequence(adrt_device& device, void* stream, adrt_sequence& sequence, adrt_error* error);
void ForgetSequence(adrt_device& device, void* own);
/// adrt_record_cuda and adrt_record_hip.
adrt_status Record(const DeviceKind* kind, const StreamDriver& driver, adrt_launch_plan* plan, void* stream,
                   void* heap, uint64_t heap_size, void* status, adrt_error* error);
/// adrt_record_size_cuda and adrt_record_size_hip.
adrt_status RecordSize(const DeviceKind* kind, const StreamDriver& driver, adrt_launch_plan* plan,
                       void* stream, void* memory, uint64_t memory_size, adrt_error* error);

}  // namespace stream
}  // namespace adrt

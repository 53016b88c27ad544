#ifndef ADRT_PYTHON_KERNEL_STATE_H
#define ADRT_PYTHON_KERNEL_STATE_H

#include <adrt/adrt.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices.h"
#include "parameters.h"

namespace adrt_python {

class BundleState;

/// The options that Kernel.on has set.
struct Options {
  uint32_t threads = 0;      ///< 0: the device's own number
  uint64_t budget = 0;       ///< bytes that the heap may take; 0: as many as it needs
  PyObject* heap = nullptr;  ///< called for the memory of each launch; null: the kernel has its own
  bool has_stream = false;   ///< launches are recorded into the stream; otherwise they are waited for
  uint64_t stream = 0;       ///< as DLPack counts
  bool may_wait = false;     ///< in the stream, where sizes or reports have to be read

  /// As the driver takes it, whose default stream is null.
  void* stream_handle() const { return reinterpret_cast<void*>(stream == kDefaultStream ? 0 : stream); }
};

/// A plan and the memory of its launches, for one call at a time, or for the calls in one stream.
struct Launch {
  Launch() = default;
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch();

  /// Plans the kernel with these arguments, or updates the plan for them, and makes the memory of its
  /// launches.
  adrt_status Prepare(const adrt_kernel* kernel, adrt_module* module, const std::vector<adrt_arg>& args,
                      adrt_error* error);
  /// Into a stream of CUDA or HIP, without waiting, with `bytes` of memory as the heap. The launches of one
  /// plan in a stream share a status block, of which the first report stands until it is read.
  adrt_status Record(void* into, void* memory, uint64_t bytes, adrt_error* error);
  /// The reports of the launches that were recorded since the last time. The stream is idle.
  adrt_status ReadStatus(adrt_error* error);
  /// Memory of the device of at least this many bytes. A smaller block stays, as launches may be under way in
  /// it.
  adrt_status Reserve(uint64_t bytes, adrt_error* error);
  void* heap_memory() const { return memories.empty() ? nullptr : adrt_memory_data(memories.back()); }
  uint64_t heap_bytes() const { return memories.empty() ? 0 : adrt_memory_bytes(memories.back()); }

  Device* device = nullptr;
  uint32_t threads = 0;
  uint64_t budget = 0;
  bool has_stream = false;
  uint64_t stream = 0;
  adrt_memory* status = nullptr;       ///< of the launches in a stream
  std::vector<adrt_memory*> memories;  ///< heaps of the launches in a stream, the last one in use
  bool is_recorded = false;            ///< the stream has launches whose status has not been read
  adrt_launch_plan* plan = nullptr;    ///< null: not planned yet
  adrt_heap* heap = nullptr;
};

/// The state that all Python objects of one kernel share. Launches that are not under way wait to be used
/// again, so that a call allocates nothing; calls from several threads have one each. Python's lock guards
/// it, but for Borrow and GiveBack, which any thread may call.
class KernelState {
 public:
  /// False with a Python exception.
  bool Read(BundleState* bundle, const adrt_kernel* kernel);

  std::unique_ptr<Launch> Borrow(Device* device, const Options& options);
  /// Raises what launches in the stream have reported since the last check. The stream is idle.
  bool CheckStream(uint64_t stream);
  void GiveBack(std::unique_ptr<Launch> launch);

  const adrt_kernel* handle() const { return handle_; }
  BundleState& bundle() const { return *bundle_; }
  const adrt_kernel_report& report() const { return report_; }
  const Parameters& parameters() const { return parameters_; }
  /// The type of what a call gives, a tuple with a name for each parameter that the kernel writes; null: it
  /// writes none.
  PyTypeObject* outputs() const { return outputs_; }
  /// "relax(x: buffer<f32, 1> diff, n: i32)".
  std::string Signature() const;

 private:
  bool MakeOutputs();
  adrt_status ReadStatus(uint64_t stream, adrt_error* error);

  BundleState* bundle_ = nullptr;
  const adrt_kernel* handle_ = nullptr;
  adrt_kernel_report report_ = Sized<adrt_kernel_report>();
  Parameters parameters_;
  PyTypeObject* outputs_ = nullptr;  // lives as long as the process, since the objects that it made do
  std::mutex idle_lock_;             // no code that may wait for Python's lock runs under it
  std::vector<std::unique_ptr<Launch>> idle_;
};

}  // namespace adrt_python

#endif

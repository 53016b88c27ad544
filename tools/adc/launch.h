#pragma once
// A kernel with memory for all of its arguments, launched as often as wanted.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "device.h"
#include "record_file.h"
#include "session.h"
#include "values.h"

namespace adc::tool {

struct LaunchOptions {
  uint32_t workers = 0;         ///< 0: one per processor
  uint64_t heap_budget = 0;     ///< bytes; 0: as many as it needs
  uint64_t adstack_cap = 0;     ///< bytes for stacks whose capacity nothing says; 0: read the sizes
  uint64_t size_threshold = 0;  ///< bytes of rows up to which gated ones are not counted; 0: 1 MiB
  std::string bounds_record;    ///< file of the bounds record; empty: none
  /// An access out of range, or a promise that is broken, is no failure: LaunchReport::left says that there
  /// was one.
  bool may_leave = false;
  /// Called when a kernel has run, with what it wrote in the values, and before a failure is told.
  std::function<void()> ran = {};
};

/// The resources that a launch took.
struct LaunchReport {
  adrt_plan_report plan = {};
  bool left = false;
  std::vector<std::string> rows;  ///< for people: of each claim group with a gate that a device counted
};

/// Arguments as the loader takes them, and their memory of the device. On a CPU that is the memory of the
/// values themselves.
class Arguments {
 public:
  /// Gives every argument memory and copies it there. Memory of an earlier call is used again where it fits.
  /// kExitOk, or the exit code after the reason was printed.
  int Write(const OpenedDevice& device, const Kernel& kernel, std::map<std::string, ArgValue>& values);
  /// Copies back what the kernel writes.
  int Read(const Kernel& kernel, std::map<std::string, ArgValue>& values);
  const std::vector<adrt_arg>& list() const { return list_; }

 private:
  std::vector<adrt_arg> list_;
  std::map<std::string, Memory> memory_;  ///< by parameter; empty on a CPU
};

/// adrt_run, with signals that end the process told as the kernel's.
adrt_status RunPlan(adrt_launch_plan* plan, const adrt_run_desc* desc, adrt_error* error);

/// A device and the code of a bundle on it.
class Machine {
 public:
  explicit Machine(Session& session) : session_(&session) {}
  /// All three: kExitOk, or the exit code after the reason was printed.
  int Open(const DeviceChoice& choice, uint32_t workers);
  /// As tool::OpenBundle, for running it: its code must be trusted or signed. A session that keeps things
  /// gives the bundle that it has of the same bytes.
  int OpenBundle(const std::string& path, const OpenOptions& options, Bundle* bundle);
  int Load(Bundle& bundle);
  /// Runs `kernel` once with `values` (every given parameter by name). kExitOk, or the exit code after the
  /// reason was printed.
  int Launch(const Kernel& kernel, std::map<std::string, ArgValue>& values, const LaunchOptions& options,
             LaunchReport* report = nullptr);
  /// Zeroed memory for the values that `kernel` saves for its gradient and whose number only data says;
  /// Launch does this itself.
  int FillSaved(const Kernel& kernel, std::map<std::string, ArgValue>& values, const LaunchOptions& options);
  /// A plan of a launch with these arguments.
  int Plan(const Kernel& kernel, const std::vector<adrt_arg>& arguments, const LaunchOptions& options,
           LaunchPlan* plan, const RecordFile* record = nullptr) const;
  /// `code`, or the one that says that the validation layer found faults.
  int Finish(int code) const;
  const OpenedDevice& device() const { return *device_; }
  adrt_module* module() const { return module_.get(); }

 private:
  Session* session_;
  std::shared_ptr<OpenedDevice> device_;
  uint32_t earlier_faults_ = 0;  ///< of command lines before this one, on the same device
  std::string name_;
  Module module_;
  Arguments arguments_;
};

/// Zeroed memory for buffers that have extents and no value yet.
void FillShapes(const Kernel& kernel, const std::map<std::string, std::vector<int64_t>>& shapes,
                std::map<std::string, ArgValue>* values);

/// Zeroed memory for companions that have no value yet, in the shape of their primal: the adjoint of a scalar
/// is a buffer of rank 0; and for the values that the kernel saves for its gradient, where arguments say
/// their number. Its prints have no space. False after an error was printed: a plain parameter without a
/// value.
bool FillCompanions(const Kernel& kernel, std::map<std::string, ArgValue>* values);

}  // namespace adc::tool

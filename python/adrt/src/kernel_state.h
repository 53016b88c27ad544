#ifndef ADRT_PYTHON_KERNEL_STATE_H
#define ADRT_PYTHON_KERNEL_STATE_H

#include <adrt/adrt.h>

#include <memory>
#include <string>
#include <vector>

#include "devices.h"
#include "parameters.h"

namespace adrt_python {

class BundleState;

/// A plan and the memory of its launches, for one call at a time.
struct Launch {
  Launch() = default;
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch();

  Device* device = nullptr;
  uint32_t threads = 0;
  adrt_launch_plan* plan = nullptr;  ///< null: not planned yet
  adrt_heap* heap = nullptr;
};

/// What all Python objects of one kernel share. Launches that are not under way wait to be used again, so
/// that a call allocates nothing; calls from several threads have one each.
class KernelState {
 public:
  /// False with a Python exception.
  bool Read(BundleState* bundle, const adrt_kernel* kernel);

  std::unique_ptr<Launch> Borrow(Device* device, uint32_t threads);
  void GiveBack(std::unique_ptr<Launch> launch) { idle_.push_back(std::move(launch)); }

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

  BundleState* bundle_ = nullptr;
  const adrt_kernel* handle_ = nullptr;
  adrt_kernel_report report_ = Sized<adrt_kernel_report>();
  Parameters parameters_;
  PyTypeObject* outputs_ = nullptr;  // lives as long as the process, since what it made does
  std::vector<std::unique_ptr<Launch>> idle_;
};

}  // namespace adrt_python

#endif

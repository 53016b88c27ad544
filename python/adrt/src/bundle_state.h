#ifndef ADRT_PYTHON_BUNDLE_STATE_H
#define ADRT_PYTHON_BUNDLE_STATE_H

#include <adrt/adrt.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "errors.h"
#include "kernel_state.h"

namespace adrt_python {

/// Which bundles may run: all, none, or those that one of these keys has signed.
struct Trust {
  bool anything = false, by_keys = false;
  std::vector<uint8_t> keys;  ///< 32 bytes each
};

/// An opened bundle, the kernels that were asked of it, and its code on the devices that it ran on. Python's
/// lock guards it.
class BundleState {
 public:
  BundleState() = default;
  BundleState(const BundleState&) = delete;
  BundleState& operator=(const BundleState&) = delete;
  ~BundleState();

  /// Opens bytes, which may be freed afterwards. False with a Python exception, also where there are keys and
  /// none of them has signed it.
  bool Open(const void* bytes, size_t size, const Trust& trust, const std::string& name);

  const adrt_bundle* handle() const { return handle_; }
  const adrt_bundle_report& report() const { return report_; }
  const std::string& name() const { return name_; }
  /// The hash of what the bundle holds, in hexadecimal digits.
  std::string ContentId() const;

  /// The kernel of exactly that name; null with a Python exception, which names the existing ones.
  KernelState* Find(const std::string& name);
  /// The derivative of a kernel, of role "grad" or "jvp"; null, without an exception, where there is none.
  const adrt_kernel* FindDerivative(std::string_view of, std::string_view role) const;
  /// Names of the kernels that callers run, in the order of the bundle.
  std::vector<std::string> KernelNames() const;
  std::vector<std::string> TargetNames() const;
  /// Index of the target of that name, or -1.
  int FindTarget(std::string_view name) const;
  /// The target that this machine's CPU takes, or the first one where it takes none.
  uint32_t DefaultTarget() const;

  /// The bundle's code for the device, loaded at the first use, with other Python threads running. Null with
  /// a Python exception.
  adrt_module* ModuleOn(Device* device);

 private:
  Failed RaiseNoTarget(const adrt_error& error, const Device& device) const;

  adrt_bundle* handle_ = nullptr;
  adrt_bundle_report report_ = Sized<adrt_bundle_report>();
  std::string name_;
  std::vector<std::unique_ptr<KernelState>> kernels_;
  struct Loaded {
    Device* device;
    adrt_module* module;
  };
  std::vector<Loaded> modules_;
};

}  // namespace adrt_python

#endif

#pragma once
// A kernel with memory for all of its arguments, launched as often as wanted.

#include <map>
#include <string>
#include <vector>

#include "values.h"

namespace adc::tool {

struct LaunchOptions {
  uint32_t workers = 0;      ///< 0: one per processor
  uint64_t heap_budget = 0;  ///< bytes; 0: what it needs
  uint64_t adstack_cap = 0;  ///< bytes for stacks whose capacity nothing says; 0: read the sizes
};

/// A device and the code of a bundle on it.
class Machine {
 public:
  /// kExitOk, or the exit code after the reason was printed.
  int Open(Bundle& bundle, uint32_t workers);
  /// Runs `kernel` once with `values` (every given parameter by name). kExitOk, or the exit code after the
  /// reason was printed.
  int Launch(const Kernel& kernel, std::map<std::string, ArgValue>& values, const LaunchOptions& options,
             adrt_plan_report* report = nullptr);
  adrt_module* module() const { return module_.get(); }

 private:
  Device device_;
  Module module_;
};

/// Zeroed memory for companions that have no value yet, in the shape of their primal: the adjoint of a scalar
/// is a buffer of rank 0. False after an error was printed: a plain parameter without a value.
bool FillCompanions(const Kernel& kernel, std::map<std::string, ArgValue>* values);

}  // namespace adc::tool

#pragma once
// The kernels of this folder with inputs, and the baseline that each is compared with.

#include <functional>
#include <string>
#include <vector>

#include "interp/arguments.h"

namespace adc::bench {

struct Workload {
  std::string name;  ///< of the kernel and its file
  std::string sizes;
  interp::Arguments arguments;  ///< of the kernel
  std::vector<size_t> inputs;   ///< the parameters that are differentiated
  size_t output = 0;            ///< the parameter that is the result
  double goal = 0;              ///< the gradient's time over the baseline's
  /// The baseline: computes the output from the arguments, from nothing.
  std::function<void(interp::Arguments&)> primal;
};

/// All of them. The inputs are the same in every run.
std::vector<Workload> Workloads();

}  // namespace adc::bench

#pragma once
// Kernels that belong together: a primal and the kernels derived from it, in any number of steps.

#include <string_view>

#include "ir/module.h"

namespace adc::ir {

/// The name that `kernel` shares with all that is derived from the same primal: `k` of `k.grad.size0`.
/// Primals whose names have a dot may share one, too.
inline std::string_view FamilyOf(const Module& module, const Function& kernel) {
  std::string_view name = module.Text(kernel.name);
  return name.substr(0, name.find('.'));
}

}  // namespace adc::ir

#pragma once
// The signature of a derived kernel: the primal's parameters, the companions, the scratch.

#include "autodiff/activity.h"
#include "autodiff/scoped_map.h"

namespace adc::autodiff {

/// A derived kernel with an empty body.
struct DerivedKernel {
  ir::Function* function = nullptr;
  /// Per parameter of the primal its adjoint or tangent, which may be invalid; with several directions those
  /// of the first, then those of the second, ...
  std::vector<ir::Value> companions;
};

/// Adds `<kernel>.<suffix>` to the module: the parameters of `kernel`, then for each parameter that is
/// differentiated its companion `%x.<companion>` (the same type; for a scalar, vector or matrix a rank-0
/// buffer of it), then scratch parameters and their companions. `values` gets the parameters of the primal.
/// With several directions a parameter has as many companions, `%x.<companion>0` and so on, one after
/// another.
DerivedKernel MakeDerivedKernel(ir::Module& module, const ir::Function& kernel, std::string_view suffix,
                                std::string_view companion, ir::ParamRole role, ir::KernelRole kernel_role,
                                const DiffParameters& parameters, ScopedMap& values, uint32_t directions = 1);

/// Names for values of a derived kernel: unique, and after the primal value that they belong to.
class NameGiver {
 public:
  NameGiver(ir::Module& module, ir::Function& function);
  /// Names `v` `<prefix><name of primal>`, with a number after it where that is taken; leaves a value alone
  /// that has a name, or whose primal has none.
  void Name(ir::Value v, std::string_view prefix, const ir::Function& primal, ir::Value of);
  void Name(ir::Value v, std::string_view name);

 private:
  ir::Module& module_;
  ir::Function& function_;
  std::unordered_map<StringId, uint32_t> taken_;
};

}  // namespace adc::autodiff

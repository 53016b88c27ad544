#pragma once
// To which part of a derived kernel an operation belongs. Derived kernels do not say: an adjoint is what
// depends on the adjoints that the caller gave, and a value of the kernel is what an operation of the kernel
// computes, at its place.

#include "ir/module.h"

namespace adc::interp {

enum class Sweep : uint8_t {
  Kernel,   ///< the kernel is not derived
  Primal,   ///< a value of the kernel, which the derived one computes again
  Partial,  ///< a partial derivative: neither of the others
  Adjoint,
  Tangent,
};

/// The part of `function` that `inst`, which is no structured control, belongs to.
Sweep SweepOf(const ir::Module& module, const ir::Function& function, ir::Inst inst);

}  // namespace adc::interp

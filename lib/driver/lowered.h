#pragma once
// The modules that are lowered: one for all targets whose private memory holds the same tapes.
//
// Everything up to the plan is the same for all targets. The target limits the bytes of small tapes that a
// thread keeps in private memory (target::Target::tape_bytes), and lowering writes that down. Where the
// limits of the chosen targets say the same about every stack, and mostly they do, there is one module.
// Elsewhere the first is for the smallest limit, and each of the others is a copy in which more stacks have
// left their rows.

#include <memory>
#include <span>
#include <vector>

#include "ir/module.h"
#include "product/metadata.h"
#include "support/check.h"
#include "target/target.h"

namespace adc::driver {

struct LoweredModule {
  ir::Module* module = nullptr;
  std::unique_ptr<ir::Module> copy;  ///< owns `module`; null in the first, whose module is the caller's
  std::vector<product::PlannedKernel> kernels;  ///< the same ones in the same order in each
  std::vector<target::Target> targets;
};

/// The bytes of private memory that the first plan is made for: the smallest limit of `targets`.
uint32_t SmallestTapeBytes(std::span<const target::Target> targets);

/// Divides `targets` among as many modules as their limits need. `kernels` are those of `module`, planned for
/// SmallestTapeBytes and not lowered. `alike`: all of them are to take the first.
std::vector<LoweredModule> DivideTargets(ir::Module& module, std::vector<product::PlannedKernel> kernels,
                                         std::span<const target::Target> targets, bool alike);

/// The one of `modules` that `target` is of.
template <class Module>
const Module& ModuleOf(const std::vector<Module>& modules, const target::Target& target) {
  for (const Module& one : modules) {
    for (const target::Target& known : one.targets) {
      if (known.name == target.name) return one;
    }
  }
  ADC_UNREACHABLE("a target of no module");
}

/// The kernels of `lowered` that back ends are to write. `block_size`: threads of a block on devices, where a
/// task does not say; 0: the target's.
std::vector<codegen::KernelToEmit> KernelsToEmit(const LoweredModule& lowered, uint32_t block_size);

}  // namespace adc::driver

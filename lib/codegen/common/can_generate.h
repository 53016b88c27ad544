#pragma once
// Code that a target cannot generate is refused here, in one place, before any code is made.

#include <vector>

#include "codegen/common/code.h"
#include "diag/result.h"
#include "ir/function.h"
#include "target/target.h"

namespace adc::codegen {

/// Ok, or a failure that names operation, place, reason and remedy. Things that are left out without harm
/// (`print` where the target cannot) are appended to `warnings`.
diag::Status CanGenerate(const ir::Module& module, const ir::Function& kernel, const target::Target& target,
                         std::vector<diag::Diagnostic>& warnings);

/// The same of all kernels of a target. Internal check: the module is raised, and lines have their sources.
diag::Status CheckInput(const ir::Module& module, std::span<const KernelToEmit> kernels,
                        const CodeConfig& config, std::vector<diag::Diagnostic>& warnings);

}  // namespace adc::codegen

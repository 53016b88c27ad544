#pragma once
// From a lowered module to code, target by target: which back end writes it, and all of them at once.

#include <span>
#include <string>
#include <vector>

#include "codegen/common/code.h"
#include "diag/result.h"
#include "host/job_server.h"

namespace adc::driver {

/// The work of one back end.
struct EmitJob {
  const ir::Module* module = nullptr;
  std::span<const codegen::KernelToEmit> kernels;
  codegen::CodeConfig config;
};

/// The code of each job, at once where the machine has processors for it. The result does not depend on how
/// many ran at once.
/// `threads`: most of them; 0: as many as the machine has processors. `tokens`: each thread besides this one
/// needs one of them; null: none is needed.
std::vector<diag::Result<codegen::TargetCode>> EmitAll(std::span<const EmitJob> jobs, uint32_t threads = 0,
                                                       JobServer* tokens = nullptr);

/// Whether a back end failed because its target cannot express a kernel, so that others still may; and not
/// because of a file, or of the machine.
bool IsInexpressible(diag::ErrorId id);

/// The default targets of the kinds that can express all of `kernels`, by name; those of the kind `without`
/// left out.
std::vector<std::string> TargetsThatCan(const ir::Module& module,
                                        std::span<const codegen::KernelToEmit> kernels, target::Kind without);

}  // namespace adc::driver

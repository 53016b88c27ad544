#include "codegen/nvptx/emit.h"

#include "codegen/llvm/gpu_module.h"
#include "codegen/llvm/machine.h"
#include "codegen/nvptx/dialect.h"
#include "support/check.h"

namespace adc::codegen {

diag::Result<TargetCode> EmitNvptx(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config) {
  ADC_CHECK(config.target.arch == target::Arch::Nvptx, "an NVIDIA target");
  auto write = [](llvm::Module& output, llvm::TargetMachine& machine,
                  Stopwatch& watch) -> diag::Result<Payload> {
    Payload ptx{PayloadKind::Ptx, MakeAssembly(output, machine)};
    watch.Lap("select");
    return ptx;
  };
  return EmitGpu(module, kernels, config, NvptxDialect(config.target), write);
}

}  // namespace adc::codegen

#include "codegen/amdgpu/emit.h"

#include "codegen/amdgpu/dialect.h"
#include "codegen/llvm/elf_link.h"
#include "codegen/llvm/gpu_module.h"
#include "codegen/llvm/machine.h"
#include "support/check.h"

namespace adc::codegen {

diag::Result<TargetCode> EmitAmdgpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                    const CodeConfig& config) {
  ADC_CHECK(config.target.arch == target::Arch::Amdgcn, "an AMD target");
  auto write = [&config](llvm::Module& output, llvm::TargetMachine& machine,
                         Stopwatch& watch) -> diag::Result<Payload> {
    diag::Result<std::vector<uint8_t>> object = MakeObject(output, machine, {});
    if (!object) return object.Failure();
    ADC_CHECK(UndefinedSymbols(*object).empty(), "a code object that needs a function from elsewhere");
    watch.Lap("select");
    std::vector<const char*> arguments = {"-m", "elf64_amdgpu", "--no-undefined"};
    if (!config.debug_lines) arguments.push_back("-s");
    diag::Result<std::vector<uint8_t>> image = LinkElf(*object, arguments, "code object");
    if (!image) return image.Failure();
    watch.Lap("link");
    return Payload{PayloadKind::Hsaco, std::move(*image)};
  };
  return EmitGpu(module, kernels, config, AmdgpuDialect(config.target), write);
}

}  // namespace adc::codegen

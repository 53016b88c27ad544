#include "codegen/llvm/gpu_module.h"

#include "codegen/common/can_generate.h"
#include "codegen/llvm/gpu_loop.h"
#include "codegen/llvm/machine.h"
#include "codegen/llvm/math_library.h"
#include "llvm/IR/Verifier.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

void CheckModule(const llvm::Module& module) {
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  bool broken = llvm::verifyModule(module, &problem_stream);
  ADC_CHECK(!broken, problem_stream.str().c_str());
}

}  // namespace

diag::Result<TargetCode> EmitGpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                 const CodeConfig& config, const GpuDialect& dialect,
                                 const WritePayload& write) {
  ADC_CHECK(module.phase == ir::Phase::Raised, "code generation needs a raised module");
  ADC_CHECK(!config.debug_lines || config.sources != nullptr, "line tables need the sources");
  TargetCode code;
  for (const KernelToEmit& what : kernels) {
    diag::Status possible = CanGenerate(module, *what.kernel, config.target, code.warnings);
    if (!possible) return possible.Failure();
  }
  Stopwatch watch(code.steps);
  std::unique_ptr<llvm::TargetMachine> machine =
      MakeMachine(config.target, config.optimise, config.float_mode);
  llvm::LLVMContext context;
  llvm::Module output("adc", context);
  output.setSourceFileName("adc");
  output.setTargetTriple(config.target.triple);
  output.setDataLayout(machine->createDataLayout());
  dialect.MakeModule(output);
  std::unique_ptr<DebugLines> lines;
  if (config.debug_lines)
    lines = std::make_unique<DebugLines>(output, *config.sources, config.directory, config.producer,
                                         config.optimise != 0);
  auto entries = EmitGpuKernels(output, module, kernels, config, dialect, lines.get());
  if (!entries) return entries.Failure();
  code.entries = std::move(*entries);
  if (lines) lines->Finish();
  diag::Status linked = LinkMath(output, MathLibraryOf(config.target, config.libdevice), config.target);
  if (!linked) return linked.Failure();
  CheckModule(output);
  watch.Lap("emit");
  Optimise(output, *machine, config.optimise, {});
  watch.Lap("optimise");
  if (config.want_llvm_text) {
    llvm::raw_string_ostream stream(code.llvm_text);
    output.print(stream, nullptr);
  }
  diag::Result<Payload> payload = write(output, *machine, watch);
  if (!payload) return payload.Failure();
  code.payloads.push_back(std::move(*payload));
  return code;
}

}  // namespace adc::codegen

#include "codegen/llvm/output_module.h"

#include "codegen/common/can_generate.h"
#include "ir/module.h"
#include "llvm/IR/Verifier.h"
#include "support/check.h"

namespace adc::codegen {

diag::Status CheckInput(const ir::Module& module, std::span<const KernelToEmit> kernels,
                        const CodeConfig& config, TargetCode* code) {
  ADC_CHECK(module.phase == ir::Phase::Raised, "code generation needs a raised module");
  ADC_CHECK(!config.debug_lines || config.sources != nullptr, "line tables need the sources");
  for (const KernelToEmit& what : kernels) {
    diag::Status possible = CanGenerate(module, *what.kernel, config.target, code->warnings);
    if (!possible) return possible;
  }
  return diag::Unit{};
}

OutputModule::OutputModule(const CodeConfig& config, std::string_view triple) : config_(config) {
  target::Target target = config.target;
  target.triple = triple;
  machine_ = MakeMachine(target, config.optimise, config.float_mode);
  module_.setSourceFileName("adc");
  module_.setTargetTriple(triple);
  module_.setDataLayout(machine_->createDataLayout());
}

DebugLines* OutputModule::BeginLines() {
  if (config_.debug_lines)
    lines_ = std::make_unique<DebugLines>(module_, *config_.sources, config_.directory, config_.producer,
                                          config_.optimise != 0);
  return lines_.get();
}

void OutputModule::Optimise(std::span<const char* const> imports, Stopwatch& watch, TargetCode* code) {
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  bool broken = llvm::verifyModule(module_, &problem_stream);
  ADC_CHECK(!broken, problem_stream.str().c_str());
  watch.Lap("emit");
  codegen::Optimise(module_, *machine_, config_.optimise, imports);
  watch.Lap("optimise");
  if (!config_.want_llvm_text) return;
  llvm::raw_string_ostream stream(code->llvm_text);
  module_.print(stream, nullptr);
}

}  // namespace adc::codegen

#include "codegen/llvm/output_module.h"

#include "llvm/IR/Verifier.h"
#include "support/check.h"

namespace adc::codegen {

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

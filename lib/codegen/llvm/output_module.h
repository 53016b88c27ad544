#pragma once
// The LLVM module of a target's code: made, filled by a printer, checked and optimised.

#include "codegen/common/can_generate.h"
#include "codegen/llvm/debug_lines.h"
#include "codegen/llvm/machine.h"
#include "llvm/IR/LLVMContext.h"

namespace adc::codegen {

class OutputModule {
 public:
  explicit OutputModule(const CodeConfig& config) : OutputModule(config, config.target.triple) {}
  /// For another system than the target names.
  OutputModule(const CodeConfig& config, std::string_view triple);

  llvm::Module& module() { return module_; }
  llvm::TargetMachine& machine() { return *machine_; }
  /// The line tables; null where none are wanted. Called once, after what is set on the whole module.
  DebugLines* BeginLines();
  /// Ends the line tables.
  void EndLines() {
    if (lines_) lines_->Finish();
  }
  /// Checks the module, which is complete, and optimises it. `imports` as Optimise has them.
  void Optimise(std::span<const char* const> imports, Stopwatch& watch, TargetCode* code);

 private:
  const CodeConfig& config_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::LLVMContext context_;
  llvm::Module module_{"adc", context_};
  std::unique_ptr<DebugLines> lines_;
};

}  // namespace adc::codegen

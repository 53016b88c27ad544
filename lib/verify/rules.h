#pragma once
// The families of rules. Each reports all that it finds.

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace adc::verify {

struct Context {
  const ir::Module& module;
  diag::Diagnostics& diagnostics;

  diag::Diagnostic& Error(diag::ErrorId id, diag::SourceSpan span, std::string text) {
    return diagnostics.Error(id, span, std::move(text));
  }
  std::string Symbol(StringId name) const { return "'@" + std::string(module.Text(name)) + "'"; }
  std::string ValueName(StringId name) const { return "'%" + std::string(module.Text(name)) + "'"; }
};

/// Regions, terminators, visibility, and the rules of each instruction by itself. True where the body is
/// sound enough for the other families to look at it; `order` gets its instructions in textual order.
bool CheckStructure(Context& context, const ir::Function& function, std::vector<ir::Inst>* order);
/// Types and attributes of parameters, results, named derivatives, names that derived kernels will need.
void CheckSignature(Context& context, const ir::Function& function);
/// Recursion, and writes to readonly buffers, also through calls. `bodies` has the instructions of each
/// function of the module, none for those that are not sound.
void CheckCalls(Context& context, const std::vector<std::vector<ir::Inst>>& bodies);
/// Reports the operations in a function that the phase of the module forbids.
void CheckPhase(Context& context, const ir::Function& kernel, std::span<const ir::Inst> body);

}  // namespace adc::verify

#include "autodiff/check_saved.h"

#include "analysis/memory.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "ir/wording.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::ParamInfo, ir::ParamRole;

namespace {

class SavedCheck {
 public:
  SavedCheck(const ir::Module& module, const Function& primal, const Function& gradient, bool overwritten,
             diag::Diagnostics& diagnostics)
      : module_(module),
        primal_(primal),
        gradient_(gradient),
        overwritten_(overwritten && !primal.grad.Valid()),
        diagnostics_(diagnostics),
        structure_(primal),
        memory_(structure_) {
    for (const ParamInfo& info : primal.params) alias_marked_ = alias_marked_ || (info.alias && info.save);
  }

  bool Run() {
    bool good = true;
    analysis::Structure structure(gradient_);
    for (Inst inst : structure.Order()) {
      if (!ir::IsAccess(gradient_[inst].op) || !analysis::ReadsMemory(gradient_[inst].op)) continue;
      const ir::ValueData& base = gradient_[gradient_.Operand(inst, 0)];
      bool is_parameter = gradient_.IsParameter(gradient_.Operand(inst, 0));
      // A gradient begins with what its kernel is given.
      if (!is_parameter || base.number >= primal_.params.size()) continue;
      if (gradient_.params[base.number].role != ParamRole::Plain) continue;
      good = Check(inst, base.number) && good;
    }
    return good;
  }

 private:
  bool Check(Inst read, uint32_t param) {
    const ParamInfo& info = primal_.params[param];
    bool marked = info.save || (info.alias && alias_marked_);
    uint32_t memory_class = memory_.ClassOf(primal_.Params()[param], gradient_[read].attr);
    bool written = overwritten_ && memory_.IsWritten(memory_class);
    if (!marked && !written) return true;
    std::string buffer = ir::NameOf(module_, primal_, primal_.Params()[param]);
    diag::Diagnostic& error = diagnostics_.Error(
        diag::E0453, gradient_[read].span,
        "the gradient reads " + buffer +
            " for this in the state in which it finds it, and the kernel does not save it");
    if (marked) {
      error.AddNote(info.span, buffer + " is marked 'save'");
    } else {
      error.AddNote(primal_[memory_.Writes(memory_class).front()].span,
                    "with --save-overwritten the gradient may run after other launches of this");
    }
    error.AddHelp(
        primal_.grad.Valid()
            ? "what a gradient of your own reads is for the kernel to keep: store it in a buffer without "
              "'save'"
            : "let the kernel write its results to other buffers than those it reads, one per launch, and "
              "compile without " +
                  std::string(marked ? "'save'" : "--save-overwritten"));
    return false;
  }

  const ir::Module& module_;
  const Function& primal_;
  const Function& gradient_;
  bool overwritten_;
  diag::Diagnostics& diagnostics_;
  analysis::Structure structure_;
  analysis::MemoryClasses memory_;
  bool alias_marked_ = false;  ///< a buffer that others may overlap is marked `save`
};

}  // namespace

bool CheckSaved(const ir::Module& module, const std::function<bool(const Function&)>& overwritten,
                diag::Diagnostics& diagnostics) {
  bool good = true;
  for (const auto& function : module.functions) {
    if (!function->IsKernel() || function->role != ir::KernelRole::Gradient) continue;
    const Function* primal = module.Find(function->derived_from);
    if (primal == nullptr) continue;
    good = SavedCheck(module, *primal, *function, overwritten(*primal), diagnostics).Run() && good;
  }
  return good;
}

}  // namespace adc::autodiff

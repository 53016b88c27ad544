// A read that is still there is found with the writes that may have filled its cell. One that simplification
// has replaced by the stored value has left a `stop_gradient` with the number of its parameter
// (simplify.cpp).

#include "autodiff/stopped.h"

#include <set>
#include <string>
#include <utility>

#include "analysis/access.h"
#include "autodiff/activity.h"
#include "diag/errors/autodiff.h"

namespace adc::autodiff {

using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

class StopFinder {
 public:
  StopFinder(const ir::Module& module, const ir::Function& kernel, diag::Diagnostics& diagnostics)
      : module_(module),
        kernel_(kernel),
        diagnostics_(diagnostics),
        activity_(module, kernel, DiffParameters::FromAttributes(module, kernel)),
        facts_(module, kernel) {
    for (uint32_t n = 0; n < kernel.params.size(); ++n) number_[kernel.Params()[n]] = n + 1;
  }

  void Run() {
    for (Inst inst : facts_.structure().Order()) {
      const ir::InstData& data = kernel_[inst];
      if (data.op == Op::StopGradient && data.attr != ir::kNoAttr) {
        if (activity_.Varied(kernel_.Operand(inst, 0)) && activity_.Useful(kernel_.Result(inst)))
          Warn(data.attr, ir::kNoAttr, inst, Inst());
      } else if (data.op == Op::Load) {
        LookAt(inst);
      }
    }
  }

 private:
  void LookAt(Inst load) {
    Value base = kernel_.Operand(load, 0);
    uint32_t number = number_.Get(base);
    if (number == 0 || activity_.ActiveMemory(base, kernel_[load].attr)) return;
    if (kernel_.params[number - 1].role != ir::ParamRole::Plain) return;
    if (!activity_.Useful(kernel_.Result(load))) return;
    uint32_t memory_class = facts_.memory().ClassOf(load);
    if (!facts_.memory().IsWritten(memory_class)) return;
    for (Inst write : facts_.memory().Writes(memory_class)) {
      if (!ir::IsAccess(kernel_[write].op) || kernel_.Operand(write, 0) != base) continue;
      bool varied = false;
      for (Value value : kernel_.AccessValues(write)) varied = varied || activity_.Varied(value);
      // The load comes after the write where it could overwrite what the write leaves.
      if (varied && facts_.MayOverwriteLater(write, load))
        return Warn(number - 1, kernel_[load].attr, load, write);
    }
  }

  std::string NameOf(Value param, uint32_t field) const {
    StringId name = kernel_[param].name;
    if (!name.Valid()) return "a buffer";
    std::string text = "'%" + std::string(module_.Text(name));
    Type type = kernel_.TypeOf(param);
    if (type.IsLayout() && field != ir::kNoAttr)
      text += "::" + std::string(module_.Text(module_.layouts[type.count].fields[field].name));
    return text + "'";
  }

  void Warn(uint32_t parameter, uint32_t field, Inst read, Inst write) {
    // What --active leaves out was left out by name.
    if (kernel_.params[parameter].inactive || !warned_.insert({parameter, field}).second) return;
    std::string buffer = NameOf(kernel_.Params()[parameter], field);
    diag::Diagnostic& warning = diagnostics_.Warning(
        diag::W0417, kernel_[read].span,
        "the derivative of what is read here stops in " + buffer + ", which is not marked 'diff'");
    if (write.Valid()) warning.AddNote(kernel_[write].span, "it is stored here");
    warning.AddHelp("mark " + buffer +
                    " 'diff' if the derivative is to pass, or store 'stop_gradient' of the value");
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  diag::Diagnostics& diagnostics_;
  Activity activity_;
  analysis::AccessFacts facts_;
  SideTable<Value, uint32_t> number_;  ///< of a parameter, plus one
  std::set<std::pair<uint32_t, uint32_t>> warned_;
};

}  // namespace

void WarnOfStoppedDerivatives(const ir::Module& module, const ir::Function& kernel,
                              diag::Diagnostics& diagnostics) {
  StopFinder(module, kernel, diagnostics).Run();
}

}  // namespace adc::autodiff

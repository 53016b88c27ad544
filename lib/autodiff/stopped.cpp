// A read that is still there is found with the writes that may have filled its cell. One that simplification
// has replaced by the stored value has left a `stop_gradient` with the number of its parameter
// (simplify.cpp).

#include "autodiff/stopped.h"

#include <set>
#include <string>
#include <utility>

#include "analysis/access.h"
#include "analysis/uses.h"
#include "autodiff/activity.h"
#include "autodiff/region_tree.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

namespace {

class StopFinder {
 public:
  StopFinder(const ir::Module& module, const ir::Function& kernel, diag::Diagnostics& diagnostics)
      : module_(module),
        kernel_(kernel),
        diagnostics_(diagnostics),
        activity_(module, kernel, DiffParameters::FromAttributes(module, kernel)),
        facts_(module, kernel),
        uses_(kernel) {}

  void Run() {
    SpreadBits();
    for (Inst inst : facts_.structure().Order()) {
      const ir::InstData& data = kernel_[inst];
      if (data.op == Op::StopGradient && data.attr != ir::kNoAttr) {
        if (activity_.Varied(kernel_.Operand(inst, 0)) && activity_.Useful(kernel_.Result(inst)))
          Warn(data.attr, ir::kNoAttr, inst, Inst());
      } else if (data.op == Op::Load) {
        LookAt(inst);
      } else if (data.op == Op::Bitcast && bits_.Has(kernel_.Operand(inst, 0))) {
        if (activity_.Useful(kernel_.Result(inst))) WarnOfBits(inst);
      }
    }
  }

 private:
  void LookAt(Inst load) {
    Value base = kernel_.Operand(load, 0);
    uint32_t number = kernel_[base].number;
    if (!kernel_.IsParameter(base) || activity_.ActiveMemory(base, kernel_[load].attr)) return;
    if (kernel_.params[number].role != ir::ParamRole::Plain) return;
    if (!activity_.Useful(kernel_.Result(load))) return;
    uint32_t memory_class = facts_.memory().ClassOf(load);
    if (!facts_.memory().IsWritten(memory_class)) return;
    for (Inst write : facts_.memory().Writes(memory_class)) {
      if (!ir::IsAccess(kernel_[write].op) || kernel_.Operand(write, 0) != base) continue;
      bool varied = false;
      for (Value value : kernel_.AccessValues(write)) varied = varied || activity_.Varied(value);
      // The load comes after the write where it could overwrite what the write leaves.
      if (varied && facts_.MayOverwriteLater(write, load))
        return Warn(number, kernel_[load].attr, load, write);
    }
  }

  /// Integers, and arrays and buffers of them, that hold bits of a varying value. The result of a comparison
  /// of bits is a decision, and the result of a conversion is a number: neither holds bits.
  void SpreadBits() {
    std::vector<Value> work;
    auto mark = [&](Value v) {
      Type type = kernel_.TypeOf(v);
      bool holds = ir::IsInteger(type.scalar) && type.scalar != ir::Scalar::I1;
      if (holds && bits_.Insert(v)) work.push_back(v);
    };
    for (Inst inst : facts_.structure().Order()) {
      if (kernel_[inst].op != Op::Bitcast || !activity_.Varied(kernel_.Operand(inst, 0))) continue;
      mark(kernel_.Result(inst));
    }
    while (!work.empty()) {
      Value v = work.back();
      work.pop_back();
      for (const analysis::Use& use : uses_.Of(v)) {
        const ir::InstData& data = kernel_[use.inst];
        if (ir::IsAccess(data.op)) {
          bool is_index = use.number > 0 && use.number <= data.index_count;
          if (use.number > 0 && !is_index) mark(kernel_.Operand(use.inst, 0));
          if (use.number == 0 && data.result_count == 1) mark(kernel_.Result(use.inst));
        } else if (data.op == Op::Yield) {
          Inst owner = kernel_[data.parent].owner;
          if (!owner.Valid() || analysis::IsParallel(kernel_[owner].op)) continue;
          mark(kernel_.Result(owner, use.number));
          if (IsSerialLoop(kernel_[owner].op)) mark(CarriedParam(kernel_, owner, use.number));
        } else if (IsSerialLoop(data.op)) {
          uint32_t first = data.operand_count - data.result_count;
          if (use.number < first) continue;
          mark(kernel_.Result(use.inst, use.number - first));
          mark(CarriedParam(kernel_, use.inst, use.number - first));
        } else if (ir::InfoOf(data.op).effect == ir::Effect::Pure && data.result_count == 1) {
          mark(kernel_.Result(use.inst));
        }
      }
    }
  }

  void WarnOfBits(Inst inst) {
    diagnostics_
        .Warning(diag::W0418, kernel_[inst].span,
                 "the derivative stops here: this float is made of the bits of one that is differentiated")
        .AddHelp(
            "write it with floats (abs, neg, copysign, select, floor), or pass the derivative with a "
            "function that "
            "names its own; 'stop_gradient' says that none is meant");
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
    // The user has left out this parameter by name (--active).
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
  analysis::Uses uses_;
  IndexSet<Value> bits_;
  std::set<std::pair<uint32_t, uint32_t>> warned_;
};

}  // namespace

void WarnOfStoppedDerivatives(const ir::Module& module, const ir::Function& kernel,
                              diag::Diagnostics& diagnostics) {
  StopFinder(module, kernel, diagnostics).Run();
}

}  // namespace adc::autodiff

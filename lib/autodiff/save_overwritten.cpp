// A gradient runs after its kernel, and finds memory as the kernel left it; where a step of a simulation is
// launched a thousand times on the same buffers, it finds the memory of the last launch. Every value that it
// reads again must be saved by then. This pass asks reverse mode for the values that it would read again
// (RecordingPlan), lets the kernel store exactly these values, and asks again, since a value that is saved
// needs nothing in turn, and the plan changes.
//
// save_rewriter.h gives each value its place.
//
// The kernel saves the value, not the cell: a cell that a loop overwrites in each trip has one slot per trip.
// That is the checkpointing of "store all" (Griewank and Walther, Evaluating Derivatives, chapter 12), with
// the tape in the caller's memory; schedules over launches are the loader's (adrt_rollout.h).

#include "autodiff/save_overwritten.h"

#include <algorithm>

#include "analysis/memory.h"
#include "autodiff/reverse_analyses.h"
#include "autodiff/save_final_values.h"
#include "autodiff/save_rewriter.h"
#include "autodiff/vjp_reads.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "ir/type.h"
#include "ir/wording.h"
#include "support/check.h"
#include "transform/isolate_tasks.h"
#include "transform/rewriter.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// The reads of a gradient from memory that does not last, by the instruction of the kernel that each
/// repeats.
struct Reads {
  std::vector<Inst> values;  ///< loads, and atomics with a result, that it would repeat: in the state then
  std::vector<FinalRead> finals;  ///< whole buffers: in the state after the task
};

/// Whether the buffer, a parameter of the kernel, is marked `save`, or may be one that is.
bool IsMarked(const Function& function, Value buffer) {
  const ir::ParamInfo& info = function.params[function[buffer].number];
  return info.save || (info.alias && std::ranges::any_of(function.params, [](const ir::ParamInfo& other) {
                         return other.alias && other.save;
                       }));
}

/// Buffers that a vjp also writes, cells of layouts, and reads of the kernel's own gradient are not saved:
/// check_saved.h finds those.
Reads ReadsToSave(const ir::Module& module, const Function& function, const SaveConfig& config) {
  ReverseAnalyses analyses(module, function, false);
  const auto& [kernel, parameters, tree, activity, work, plan] = analyses;
  StoredValues saved(function, false);
  analysis::MemoryClasses memory(tree.structure());
  auto lasts = [&](Value buffer, uint32_t field) {
    const ir::ValueData& base = function[buffer];
    bool is_parameter = function.IsParameter(buffer);
    if (!is_parameter || function.params[base.number].role != ir::ParamRole::Plain) return true;
    return !IsMarked(function, buffer) &&
           !(config.overwritten && memory.IsWritten(memory.ClassOf(buffer, field)));
  };
  Reads reads;
  auto keep = [&](Inst reader, Value base, uint32_t component) {
    if (!lasts(base, ir::kNoAttr) && !plan.FinalOf(reader, base, component).Valid())
      reads.finals.push_back({reader, base, component});
  };
  for (Inst inst : tree.structure().Order()) {
    Op op = function[inst].op;
    // A layout's cells are not copied.
    bool of_buffer = ir::IsAccess(op) && function.TypeOf(function.Operand(inst, 0)).IsBuffer();
    if (IsExtremum(op) && of_buffer && work.Has(inst))
      keep(inst, function.Operand(inst, 0), function[inst].component);
    if (op == Op::Call && function.RegionCount(inst) != 0 && work.Has(inst)) {
      VjpReads of_call(module, function, inst);
      for (const VjpReads::Read& read : of_call.Reads())
        keep(inst, function.Operand(inst, read.param), read.component);
    }
    if ((op != Op::Load && !ir::IsAtomic(op)) || !plan.Reloaded(inst)) continue;
    if (lasts(function.Operand(inst, 0), function[inst].attr)) continue;
    // The check of reverse mode refuses a value that is saved already and read again all the same.
    if (saved.Of(function.Result(inst)).Valid()) continue;
    // An old value that carries a derivative is refused (E0402), saved or not.
    if (ir::IsAtomic(op) && activity.ActiveResult(inst)) continue;
    reads.values.push_back(inst);
  }
  return reads;
}

/// Why a value cannot be saved: `loop` is the second that data alone bounds.
void Explain(const Function& function, Inst loop, diag::Diagnostic& said) {
  said.AddNote(function[loop].span,
               "arguments and shapes do not bound the number of iterations of this loop, nor that of the "
               "'parallel'");
  said.AddHelp(
      "bound one of them by arguments, or by 'min' of the bound and an argument; or copy what it reads to a "
      "buffer "
      "that the kernel does not write");
}

class KernelSaver {
 public:
  KernelSaver(ir::Module& module, const SaveConfig& config) : module_(module), config_(config) {}

  /// False after an error. `*saved` is set where the kernel got buffers. With `left` the values of loops that
  /// nothing bounds stay what they are, and enter it as warnings, unless their buffers are marked `save`.
  bool Save(Function& function, bool overwritten, diag::Diagnostics& diagnostics, diag::Diagnostics* left,
            bool* saved) {
    SaveConfig config = config_;
    config.overwritten = overwritten;
    for (bool copied = false;;) {
      Reads reads = ReadsToSave(module_, function, config);
      if (reads.values.empty() && reads.finals.empty()) return true;
      if (config.differentiated_again) return RefuseSecond(function, reads, diagnostics);
      diag::Diagnostics found(0);
      auto leaves = [&](Inst value, Inst loop) {
        bool may = left != nullptr && !IsMarked(function, function.Operand(value, 0));
        diag::Diagnostic& said =
            may ? found.Warning(diag::W0462, function[value].span,
                                ir::NameOf(module_, function, function.Result(value)) +
                                    " is not saved for the gradient: it must run before anything changes the "
                                    "buffers that the kernel leaves")
                : diagnostics.Error(diag::E0450, function[value].span,
                                    ir::NameOf(module_, function, function.Result(value)) +
                                        " is to be saved for the gradient, but the number of times is not "
                                        "known before the launch");
        Explain(function, loop, said);
        return may;
      };
      std::unique_ptr<Function> made;
      if (!SaveValues(module_, function, config.fold, reads.values, leaves, &made)) return false;
      if (made != nullptr) {
        *saved = true;
        function = std::move(*made);
        continue;
      }
      // A load that is there for another reason may find a winner as well: one after the other.
      if (reads.finals.empty()) {
        if (left != nullptr) *left = std::move(found);
        return true;
      }
      ADC_CHECK(!copied, "a copy of a buffer was not found again");
      copied = *saved = true;
      function = std::move(*SaveFinalValues(module_, function, reads.finals, config.fold));
    }
  }

  /// As Save with all that the kernel overwrites, or without an option if that cannot be and the gradient is
  /// right in the state that the kernel leaves. False after an error, which is that of the former.
  bool SaveAll(Function& function, diag::Diagnostics& diagnostics, bool* saved) {
    diag::Diagnostics refused(diagnostics.ErrorLimit()), left(0), ignored(0);
    bool any = false;
    std::unique_ptr<Function> made = Copy(function);
    bool good = Save(*made, true, refused, nullptr, &any);
    if (!good) {
      // Nothing is saved where nothing need be; else what can be.
      std::unique_ptr<Function> partly = Copy(function);
      bool some = false;
      made = Copy(function);
      any = false;
      bool known = Save(*partly, true, ignored, &left, &some);
      good = Save(*made, false, ignored, nullptr, &any) && IsRight(*made);
      if (!good && known && IsRight(*partly)) {
        made = std::move(partly);
        any = some;
        good = true;
      }
      diagnostics.AddAll(good ? left : refused);
      if (!good) return false;
      config_.left(function);
    }
    function = std::move(*made);
    *saved = *saved || any;
    return true;
  }

  /// Like Save, but all of the values or none, and nothing is said.
  void SaveWherePossible(Function& function, bool* saved) {
    diag::Diagnostics found(0);
    std::unique_ptr<Function> made = Copy(function);
    bool any = false;
    if (!Save(*made, config_.overwritten, found, nullptr, &any)) return;
    function = std::move(*made);
    *saved = *saved || any;
  }

 private:
  bool RefuseSecond(const Function& function, const Reads& reads, diag::Diagnostics& diagnostics) const {
    Inst first = reads.values.empty() ? reads.finals.front().reader : reads.values.front();
    diagnostics
        .Error(diag::E0452, function[first].span,
               "second derivatives of '@" + std::string(module_.Text(function.name)) +
                   "' would need derivatives of the values that it saves")
        .AddHelp("derive 'jvp(grad)' of a kernel that writes its results to other buffers");
    return false;
  }

  std::unique_ptr<Function> Copy(const Function& function) {
    return transform::Rewriter(module_, function, config_.fold).Run();
  }

  /// Whether reverse mode takes the kernel as it is.
  bool IsRight(const Function& function) const {
    bool later = std::ranges::any_of(function.params, [](const ir::ParamInfo& info) {
      return info.save || info.role == ir::ParamRole::Saved;
    });
    diag::Diagnostics found(0);
    return ReverseAnalyses(module_, function, !later && !config_.differentiated_again).Check(module_, found);
  }

  ir::Module& module_;
  const SaveConfig& config_;
};

bool Asks(const Function& function, const SaveConfig& config) {
  if (!function.IsKernel() || function.role != ir::KernelRole::Primal || function.grad.Valid()) return false;
  bool marked = std::any_of(function.params.begin(), function.params.end(),
                            [](const ir::ParamInfo& info) { return info.save; });
  return (marked || config.overwritten) && (!config.saves || config.saves(function));
}

}  // namespace

bool SaveOverwritten(ir::Module& module, const SaveConfig& config, diag::Diagnostics& diagnostics) {
  bool saved = false;
  KernelSaver saver(module, config);
  for (auto& function : module.functions) {
    if (!Asks(*function, config)) continue;
    if (config.optional) {
      saver.SaveWherePossible(*function, &saved);
    } else if (config.overwritten ? !saver.SaveAll(*function, diagnostics, &saved)
                                  : !saver.Save(*function, false, diagnostics, nullptr, &saved)) {
      return false;
    }
  }
  // A value of a task's prologue that is stored makes a task of its own.
  return !saved || transform::IsolateTasks(module, {}, diagnostics);
}

}  // namespace adc::autodiff

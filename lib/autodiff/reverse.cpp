// Reverse mode over structured SSA.
//
// A kernel is a list of tasks, and its gradient runs them last to first. For each iteration of a `parallel`
// the derived kernel runs a primal sweep, only the slice that the adjoint sweep reads and without its side
// effects, and then the adjoint sweep; both lie in one task, so a tape lives no longer than one iteration of
// one thread.
//
//   parallel %i in 0..%n {                       parallel %i in 0..%n {
//     %v0 = load %x[%i]                            %v0 = load %x[%i]
//     %v = for ... carry(%a = %v0) { ... }   =>    for ... { stack.push %s, %a at %t ... }
//     atomic add %loss[], %v                       %gv = load %loss.adj[]
//   }                                              %g = for ... reversed carry(%ga = %gv) { ... }
//                                                  add_to %x.adj[%i], %g
//                                                }
//
// Adjoints are registers: a table from slots (a scalar value, or a component of a vector) to the value that
// holds what has been summed so far, with no entry for zero. Those of f16 values are f32 (AdjointType in
// rules.h) and are rounded where they leave the registers: in an update of a buffer, in an argument of a vjp.
// Regions scope the table, because a value made inside a branch is not there after it; a value that crosses
// is a result of the branch or a carried value of the loop (adjoint_sweep.cpp).
//
// A value that is uniform in a parallel task is computed in its prologue, once. A derivative through such a
// value ends in memory (a `diff` parameter, a load), and every iteration contributes: the prologue is
// reversed at the end of each iteration's sweep.

#include "autodiff/reverse.h"

#include "autodiff/adjoint_sweep.h"
#include "autodiff/primal_sweep.h"
#include "autodiff/reverse_analyses.h"
#include "autodiff/write_races.h"
#include "diag/errors/autodiff.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Module, ir::Op;

namespace {

/// `kernel @k(...) grad @k_bwd`: the user's kernel under the derived name.
Function* CopyUserGradient(Module& module, const Function& primal, diag::Diagnostics& diagnostics) {
  const Function* user = module.Find(primal.grad);
  ADC_CHECK(user != nullptr, "a kernel names a reverse kernel that is not there");
  ScopedMap values;
  DerivedKernel derived =
      MakeDerivedKernel(module, primal, "grad", "adj", ir::ParamRole::Adjoint, ir::KernelRole::Gradient,
                        DiffParameters::FromAttributes(module, primal), values);
  Function& gradient = *derived.function;
  uint32_t plain = 0;
  for (const ir::ParamInfo& info : gradient.params)
    if (info.role != ir::ParamRole::Scratch) ++plain;
  bool fits = user->params.size() >= plain;
  for (uint32_t n = 0; fits && n < plain; ++n)
    fits = user->TypeOf(user->Params()[n]) == gradient.TypeOf(gradient.Params()[n]);
  if (!fits) {
    std::string expected;
    for (uint32_t n = 0; n < plain; ++n) {
      if (n > 0) expected += ", ";
      expected += ir::TypeName(module, gradient.TypeOf(gradient.Params()[n]));
    }
    diagnostics
        .Error(diag::E0406, user->span,
               "'@" + std::string(module.Text(user->name)) +
                   "' does not have the parameters of a reverse kernel of '@" +
                   std::string(module.Text(primal.name)) + "'")
        .AddHelp("its parameters are (" + expected +
                 "): those of the kernel, then an adjoint for each 'diff' one");
    return nullptr;
  }
  ir::ValueMap map;
  for (uint32_t n = 0; n < user->params.size(); ++n) {
    if (n < plain)
      map[user->Params()[n]] = gradient.Params()[n];
    else
      map[user->Params()[n]] = gradient.AddParameter(user->TypeOf(user->Params()[n]),
                                                     (*user)[user->Params()[n]].name, user->params[n]);
  }
  ir::Builder builder(module, gradient, gradient.Body());
  ir::Cloner(*user, builder, map).CloneBody(user->Body(), true);
  return &gradient;
}

/// The copy of the primal that has loops over segments, out of the module and under the primal's name, which
/// that of the gradient and messages are made of.
std::unique_ptr<Function> TakeSegmented(Module& module, const Function& primal, const Function& segmented) {
  auto taken = std::make_unique<Function>(segmented);
  taken->name = primal.name;
  taken->derived_from = primal.derived_from;
  module.DropFunction(segmented);
  return taken;
}

/// The body of the reverse kernel. False after an error.
bool EmitTasks(ReverseKernel& kernel) {
  std::vector<analysis::Task> tasks = analysis::TasksOf(kernel.facts.kernel);
  PrimalSweep primal_sweep(kernel);
  AdjointSweep adjoint_sweep(kernel, primal_sweep);
  primal_sweep.RefillScratch(tasks);
  for (size_t n = tasks.size(); n-- > 0 && !kernel.failed;) adjoint_sweep.ReverseTask(tasks[n]);
  kernel.builder.SetBlock(kernel.built.Body());
  kernel.builder.SetSpan({});
  kernel.builder.Terminate(Op::Return, {});
  return !kernel.failed;
}

}  // namespace

Function* DeriveReverse(Module& module, Function& primal, const ReverseConfig& config,
                        diag::Diagnostics& diagnostics, ProvisionRecord* provisions,
                        SegmentedKernel* checkpoints) {
  ADC_CHECK(module.phase == ir::Phase::Scalar, "reverse mode is for shaped kernels");
  std::string name(module.Text(primal.name));
  if (primal.role != ir::KernelRole::Primal) {
    diagnostics
        .Error(diag::E0405, primal.span,
               "'@" + name +
                   "' is itself a derived kernel: reverse mode does not "
                   "apply to it")
        .AddHelp("second derivatives are forward over reverse: derive 'jvp(grad)'");
    return nullptr;
  }
  if (module.Find(name + ".grad") != nullptr) {
    diagnostics.Error(diag::E0408, primal.span, "'@" + name + ".grad' exists already")
        .AddHelp("rename it, or derive nothing with '--derive=none': the derived kernel gets this name");
    return nullptr;
  }
  if (primal.grad.Valid()) return CopyUserGradient(module, primal, diagnostics);

  auto analyses = std::make_unique<ReverseAnalyses>(module, primal, config.reread_stored);
  bool races = !CheckWriteRaces(module, primal, &analyses->activity, diagnostics);
  if (!analyses->Check(module, diagnostics) || races) return nullptr;
  std::unique_ptr<Function> segmented;
  if (checkpoints != nullptr) {
    ADC_CHECK(checkpoints->primal == &primal, "checkpoints of another kernel");
    segmented = TakeSegmented(module, primal, *checkpoints->segmented);
    analyses = std::make_unique<ReverseAnalyses>(module, *segmented, config.reread_stored);
  }
  const Function& from = analyses->kernel;
  const auto& [kernel_of, parameters, tree, activity, work, plan] = *analyses;
  bool any = false;
  for (Inst inst : from[from.Body()].insts) any = any || work.TouchesMemory(inst);
  if (!any)
    diagnostics
        .Warning(diag::W0401, primal.span,
                 "the gradient of '@" + name +
                     "' is empty: no 'diff' output depends "
                     "on a 'diff' input")
        .AddHelp("mark the inputs and the outputs that take part with 'diff'");

  if (provisions != nullptr) *provisions = DescribeProvisions(module, from, tree, work, plan);
  ScopedMap values;
  DerivedKernel derived = MakeDerivedKernel(module, from, "grad", "adj", ir::ParamRole::Adjoint,
                                            ir::KernelRole::Gradient, parameters, values);
  Function* gradient = derived.function;
  ReverseKernel kernel(module, *analyses, diagnostics, std::move(derived), std::move(values));
  return EmitTasks(kernel) ? gradient : nullptr;
}

}  // namespace adc::autodiff

// The operations that a function may hold, phase by phase. Text may hold anything (what `adc --emit=ir`
// prints can be read again); from Scalar on kernels have the last form of form.h, but for code around calls
// of functions with derivatives of their own and for parameters that are vectors; from Differentiated on
// there are no calls, from Lowered on no adstacks.

#include "analysis/loops.h"
#include "analysis/tasks.h"
#include "analysis/walk.h"
#include "diag/errors/verify.h"
#include "ir/check.h"
#include "ir/module.h"
#include "support/side_table.h"
#include "verify/form.h"
#include "verify/rules.h"

namespace adc::verify {

using ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Phase, ir::Value;

namespace {

/// Calls of a function with derivatives of its own stay until those are opened, and in derived kernels so
/// are calls of what it names.
bool StaysCalled(const ir::Module& module, const Function* callee) {
  if (callee == nullptr) return false;
  if (callee->vjp.Valid() || callee->jvp.Valid()) return true;
  for (const auto& function : module.functions) {
    if (function->vjp == callee->name || function->jvp == callee->name) return true;
  }
  return false;
}

bool IsVector(ir::Type type) {
  return type.IsVec() || type.IsMat() || (type.IsArray() && IsVector(type.Element()));
}

/// Makes or takes apart a vector, or passes one to a function that stays. In a derived kernel whose calls
/// are not opened yet vectors also leave the branches and loops that the calls are in.
bool MayTouchVectors(const Function& kernel, Phase phase, Op op) {
  if (op == Op::VecMake || op == Op::VecGet || op == Op::MatMake || op == Op::MatGet || op == Op::Call)
    return true;
  bool passes_on = op == Op::If || op == Op::For || op == Op::While || op == Op::Yield ||
                   ir::ClassOf(op) == ir::OpClass::Stack;
  return phase == Phase::Scalar && kernel.derived_from.Valid() && passes_on;
}

bool TouchesVectors(const Function& kernel, Inst inst) {
  for (uint32_t n = 0; n < kernel[inst].result_count; ++n) {
    if (IsVector(kernel.TypeOf(kernel.Result(inst, n)))) return true;
  }
  for (Value v : kernel.Operands(inst)) {
    if (IsVector(kernel.TypeOf(v))) return true;
  }
  return false;
}

/// That no instruction of a task reads what another has made. `body` has outer instructions before inner
/// ones.
void CheckIsolation(Context& context, const Function& kernel, std::span<const Inst> body) {
  constexpr uint32_t kNoTask = UINT32_MAX;
  SideTable<Inst, uint32_t> task_of{0, kNoTask};
  const std::vector<Inst>& top = kernel[kernel.Body()].insts;
  std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
  for (uint32_t number = 0; number < tasks.size(); ++number) {
    for (uint32_t n = tasks[number].first; n < tasks[number].last; ++n) task_of[top[n]] = number;
  }
  for (Inst inst : body) {
    ir::Block around = kernel[inst].parent;
    if (around != kernel.Body()) task_of[inst] = task_of.Get(kernel[around].owner);
    uint32_t own = task_of.Get(inst);
    for (Value v : kernel.Operands(inst)) {
      Inst maker = kernel.DefiningInst(v);
      uint32_t made = maker.Valid() ? task_of.Get(maker) : kNoTask;
      if (own == kNoTask || made == kNoTask || made == own) continue;
      context.Error(diag::E0207, kernel[inst].span,
                    ir::OpName(kernel[inst].op) + " reads what an earlier task of " +
                        context.Symbol(kernel.name) + " has made");
    }
  }
}

void CheckFunctionForm(Context& context, const Function& function, std::span<const Inst> body, Form form) {
  const ir::Module& module = context.module;
  for (Inst inst : body) {
    const InstData& data = function[inst];
    auto refuse = [&](std::string text) { context.Error(diag::E0207, data.span, std::move(text)); };
    if (form >= Form::NoExits && (ir::IsLeave(data.op) || data.op == Op::Scope))
      refuse(ir::OpName(data.op) + " is left");
    if (!function.IsKernel()) continue;
    if (form >= Form::Inlined && data.op == Op::Call && !StaysCalled(module, module.Find(data.symbol)))
      refuse("a call of " + context.Symbol(data.symbol) + " is left after inlining");
    bool is_loop = data.op == Op::For || data.op == Op::While;
    if (form >= Form::Unrolled && is_loop && data.Has(ir::Word::Unroll))
      refuse("a loop that is marked 'unroll' is left");
    bool parallel = data.op == Op::Parallel || data.op == Op::ParallelOver;
    if (form >= Form::Flat && parallel && data.parent != function.Body())
      refuse(ir::OpName(data.op) + " is left in a branch or a loop");
    bool of_workgroup = (data.op == Op::Parallel && data.Has(ir::Word::Workgroup)) ||
                        (data.op == Op::Alloca && data.Has(ir::Word::Shared)) || data.op == Op::Barrier;
    if (form >= Form::Isolated && of_workgroup) refuse(ir::OpName(data.op) + " of a workgroup is left");
    if (form < Form::Scalars || data.op == Op::Call) continue;
    if (ir::ClassOf(data.op) == ir::OpClass::Composed || data.op == Op::Random)
      refuse(ir::OpName(data.op) + " is left after scalarisation");
    if (module.phase >= Phase::Lowered && ir::Has(data.op, ir::OwnText))
      refuse(ir::OpName(data.op) + " is left after the lowering of adstacks");
    if (!MayTouchVectors(function, module.phase, data.op) && TouchesVectors(function, inst))
      refuse(ir::OpName(data.op) + " works on vectors after scalarisation");
  }
  for (const ir::ParamInfo& info : function.params) {
    if (form >= Form::Narrowed && info.if_read)
      context.Error(diag::E0207, info.span, "a parameter that is marked 'if_read' is left")
          .AddHelp("run the pass 'axes', or drop 'if_read'");
  }
  if (form >= Form::Isolated && function.IsKernel()) CheckIsolation(context, function, body);
}

/// A loop over the steps of a segment stands in the body of the loop over segments, alone. Source text has
/// none: that its loop has the form which reverse mode relies on is for the pass to make sure of.
void CheckSteps(Context& context, const Function& function, std::span<const Inst> body) {
  for (Inst inst : body) {
    const InstData& data = function[inst];
    if ((data.op != Op::For && data.op != Op::While) || !data.Has(ir::Word::Steps)) continue;
    if (context.module.phase == Phase::Parsed) continue;
    Inst around = function[data.parent].owner;
    if (!around.Valid() || analysis::StepsOf(function, around) != inst)
      context.Error(
          diag::E0207, data.span,
          "a loop that is marked 'steps' is not the only one right in a loop that is marked 'checkpoint'");
  }
}

/// Rows and reports of overflows name what a plan has numbered, and a plan is made here, not read.
void CheckNoRows(Context& context, const Function& function, std::span<const Inst> body) {
  for (Inst inst : body) {
    const InstData& data = function[inst];
    if (ir::ClassOf(data.op) == ir::OpClass::Row || data.op == Op::StatusRaise)
      context.Error(
          diag::E0207, data.span,
          ir::OpName(data.op) + " names what the plan of the adstacks has, and there is no plan yet");
  }
}

/// The part of the compiler that writes words which appear first in a phase.
std::string_view WriterOf(Phase since) {
  return since == Phase::Raised    ? "raising"
         : since == Phase::Lowered ? "the lowering of adstacks"
                                   : "differentiation";
}

/// Words stand on operations that may have them, and those of a later phase are not here yet.
void CheckWords(Context& context, const Function& function, std::span<const Inst> body) {
  for (Inst inst : body) {
    for (const ir::WordInfo& word : ir::kWords) {
      if (function[inst].Has(word.word) && word.since > context.module.phase)
        context.Error(diag::E0207, function[inst].span,
                      ir::OpName(function[inst].op) + " is marked '" + std::string(word.spelling) +
                          "', which " + std::string(WriterOf(word.since)) + " alone writes");
    }
    if (context.module.phase >= Phase::Raised) continue;
    bool lanes = ir::ClassOf(function[inst].op) == ir::OpClass::Control && function[inst].op != Op::Call &&
                 function[inst].component != ir::kNoAttr;
    bool workers = function.workers.contains(inst);
    const char* word = function[inst].op == Op::For ? "turns"
                       : lanes                      ? "lanes"
                                                    : "waking', 'copies' or 'reach";
    if (lanes || workers)
      context.Error(diag::E0207, function[inst].span,
                    ir::OpName(function[inst].op) + " is marked '" + word + "', which raising alone writes");
  }
}

}  // namespace

void CheckPhase(Context& context, const Function& function, std::span<const Inst> body) {
  Phase phase = context.module.phase;
  CheckSteps(context, function, body);
  if (phase < Phase::Lowered) CheckNoRows(context, function, body);
  CheckWords(context, function, body);
  if (phase == Phase::Parsed) return;
  CheckFunctionForm(context, function, body, Form::Isolated);
  if (!function.IsKernel()) return;
  for (Inst inst : body) {
    const InstData& data = function[inst];
    bool stays = data.op == Op::Call && StaysCalled(context.module, context.module.Find(data.symbol));
    if (phase >= Phase::Differentiated && stays)
      context.Error(diag::E0207, data.span,
                    "a call of " + context.Symbol(data.symbol) + " is left after differentiation");
    if (phase >= Phase::Lowered && ir::ClassOf(data.op) == ir::OpClass::Stack)
      context.Error(diag::E0207, data.span, ir::OpName(data.op) + " is left after the lowering of adstacks");
  }
}

bool CheckForm(const ir::Module& module, Form form, diag::Diagnostics& diagnostics) {
  Context context{module, diagnostics};
  uint32_t errors = diagnostics.ErrorTotal();
  for (const auto& function : module.functions) {
    std::vector<Inst> body;
    analysis::ForEachInst(*function, [&](Inst inst) { body.push_back(inst); });
    CheckFunctionForm(context, *function, body, form);
  }
  return diagnostics.ErrorTotal() == errors;
}

}  // namespace adc::verify

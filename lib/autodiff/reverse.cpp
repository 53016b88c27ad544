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
// Regions scope the table, because a value made inside a branch is not there after it; what crosses is a
// result of the branch or a carried value of the loop (reverse_control.cpp).
//
// What is uniform in a parallel task is computed in its prologue, once. A derivative through such a value
// ends in memory (a `diff` parameter, a load), and every iteration contributes: the prologue is reversed at
// the end of each iteration's sweep.

#include "autodiff/reverse.h"

#include "autodiff/reverse_analyses.h"
#include "autodiff/reverse_emitter.h"
#include "autodiff/rules.h"
#include "autodiff/write_races.h"
#include "diag/errors/autodiff.h"
#include "ir/clone.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Function;
using ir::Inst;
using ir::Module;
using ir::Op;
using ir::Type;
using ir::Value;

ReverseEmitter::ReverseEmitter(Module& module, const Function& primal, const ReverseConfig& config,
                               diag::Diagnostics& diagnostics, const RegionTree& tree,
                               const Activity& activity, const AdjointWork& work, const NeededPlan& plan,
                               const transform::StepLoops& steps, DerivedKernel derived, ScopedMap values)
    : module_(module),
      primal_(primal),
      config_(config),
      diagnostics_(diagnostics),
      tree_(tree),
      activity_(activity),
      work_(work),
      plan_(plan),
      steps_(steps),
      built_(*derived.function),
      companions_(std::move(derived.companions)),
      builder_(module, *derived.function, derived.function->Body()),
      names_(module, *derived.function),
      values_(std::move(values)),
      vector_slot_(primal.ValueCount(), 0) {
  for (uint32_t n = 0; n < primal.params.size(); ++n) parameter_number_[primal.Params()[n]] = n + 1;
  for (uint32_t n = 0; n < primal.ValueCount(); ++n) {
    Type type = primal.TypeOf(Value(n));
    if (!type.IsFloat() || type.IsScalar()) continue;
    vector_slot_[n] = static_cast<uint32_t>(primal.ValueCount() + extra_slot_types_.size());
    extra_slot_types_.insert(extra_slot_types_.end(), type.Components(), AdjointType(type.ScalarType()));
  }
}

bool ReverseEmitter::Run() {
  std::vector<analysis::Task> tasks = analysis::TasksOf(primal_);
  PlanHeldUpdates();
  RefillScratch(tasks);
  for (size_t n = tasks.size(); n-- > 0 && !failed_;) ReverseTask(tasks[n]);
  builder_.SetBlock(built_.Body());
  builder_.SetSpan({});
  builder_.Terminate(Op::Return, {});
  return !failed_;
}

void ReverseEmitter::RefillScratch(std::span<const analysis::Task> tasks) {
  Mode mode;
  mode.roots.push_back(kWholeKernel);
  const std::vector<Inst>& body = primal_[primal_.Body()].insts;
  for (const analysis::Task& task : tasks) {
    size_t mark = values_.Mark();
    for (uint32_t n = task.first; n < task.last; ++n) {
      EmitForwardInst(body[n], mode);
      bool fills = primal_[body[n]].op == Op::Store && plan_.NeededScratch(primal_.Operand(body[n], 0));
      if (fills) CloneForward(body[n]);
    }
    values_.Rollback(mark);
  }
}

void ReverseEmitter::ReverseTask(const analysis::Task& task) {
  const std::vector<Inst>& body = primal_[primal_.Body()].insts;
  std::vector<Inst> insts(body.begin() + task.first, body.begin() + task.last);
  bool work = false;
  for (Inst inst : insts) work = work || work_.TouchesMemory(inst);
  if (!work) return;
  Mode mode;
  mode.first_step = true;
  size_t adjoint_mark = adjoints_.Mark();
  if (task.kind == analysis::TaskKind::Serial) {
    EmitForward(insts, mode);
    MakeAdjointArrays(insts);
    ReverseInsts(insts);
    FlushParameters();
  } else {
    insts.pop_back();
    EmitForward(insts, mode);
    ReverseParallel(task);
  }
  adjoints_.Rollback(adjoint_mark);
}

void ReverseEmitter::ReverseParallel(const analysis::Task& task) {
  const ir::InstData data = primal_[task.parallel];
  builder_.SetSpan(data.span);
  std::vector<Value> operands = AtAll(primal_.Operands(task.parallel));
  Inst loop = data.op == Op::Parallel ? builder_.Parallel(operands, data.attr)
                                      : builder_.ParallelOver(operands[0], data.attr);
  ir::Block body = built_[loop].regions[0];
  builder_.SetBlock(body);
  size_t value_mark = values_.Mark();
  for (size_t n = 0; n < primal_[data.regions[0]].params.size(); ++n) {
    Value index = primal_[data.regions[0]].params[n];
    names_.Name(built_[body].params[n], "", primal_, index);
    values_.Set(index.raw, built_[body].params[n]);
  }
  ReverseUnit(data.regions[0], false);
  const std::vector<Inst>& insts = primal_[primal_.Body()].insts;
  ReverseInsts(std::span<const Inst>(insts).subspan(task.first, task.last - task.first - 1));
  FlushParameters();
  builder_.SetSpan(data.span);
  builder_.Yield({});
  values_.Rollback(value_mark);
  builder_.SetBlock(built_.Body());
}

Value ReverseEmitter::At(Value v) {
  if (Value known = values_.Get(v.raw); known.Valid()) return known;
  const ir::ValueData& data = primal_[v];
  if (data.kind == ir::ValueKind::Constant) {
    const ir::ConstantData& constant = primal_.ConstantOf(v);
    return built_.Constant(constant.type, constant.bits, constant.spelling);
  }
  if (data.kind == ir::ValueKind::Global) return built_.Global(data.owner, data.type);
  if (plan_.StoreOf(v).Valid()) {
    LoadStored(v);
    return values_.Get(v.raw);
  }
  Inst inst = primal_.DefiningInst(v);
  bool remakes =
      inst.Valid() && (ir::InfoOf(primal_[inst].op).effect == ir::Effect::Pure || Reloadable(inst));
  if (!remakes) {
    Inst owner = inst.Valid() ? inst : primal_[primal_.DefiningBlock(v)].owner;
    std::string name = data.name.Valid() ? "'%" + std::string(module_.Text(data.name)) + "'" : "a value";
    return Unavailable(owner.Valid() ? primal_[owner].span : primal_.span, name, primal_.TypeOf(v));
  }
  CloneForward(inst);
  return values_.Get(v.raw);
}

bool ReverseEmitter::AtHand(Value v) const {
  ir::ValueKind kind = primal_[v].kind;
  return kind == ir::ValueKind::Constant || kind == ir::ValueKind::Global || values_.Get(v.raw).Valid();
}

std::vector<Value> ReverseEmitter::AtAll(std::span<const Value> values) {
  std::vector<Value> result;
  result.reserve(values.size());
  for (Value v : values) result.push_back(At(v));
  return result;
}

uint32_t ReverseEmitter::SlotOf(Value v, uint32_t component) const {
  return primal_.TypeOf(v).IsScalar() ? v.raw : vector_slot_[v.raw] + component;
}

uint32_t ReverseEmitter::SlotCount(Value v) const {
  return primal_.TypeOf(v).Components();
}

Type ReverseEmitter::SlotType(uint32_t slot) const {
  return slot < primal_.ValueCount() ? AdjointType(primal_.TypeOf(Value(slot)).ScalarType())
                                     : extra_slot_types_[slot - primal_.ValueCount()];
}

Value ReverseEmitter::AdjointOrZero(uint32_t slot) {
  Value g = Adjoint(slot);
  return g.Valid() ? g : builder_.Zero(SlotType(slot));
}

void ReverseEmitter::Accumulate(Value v, Value contribution, uint32_t component) {
  if (activity_.Active(v)) AccumulateSlot(SlotOf(v, component), contribution);
}

void ReverseEmitter::AccumulateSlot(uint32_t slot, Value contribution) {
  if (IsZero(contribution)) return;
  contribution = builder_.Cast(contribution, SlotType(slot));
  Value so_far = Adjoint(slot);
  bool first = !so_far.Valid() || IsZero(so_far);
  Value sum = first ? contribution : builder_.Make(Op::Add, {so_far, contribution});
  adjoints_.Set(slot, sum);
  if (slot < primal_.ValueCount() && !first) names_.Name(sum, "g", primal_, Value(slot));
}

bool ReverseEmitter::IsZero(Value v) const {
  return built_.IsConstant(v) && built_.ConstantOf(v).bits == 0;
}

uint32_t ReverseEmitter::AuxKey(Inst inst) const {
  return static_cast<uint32_t>(primal_.ValueCount()) + inst.raw;
}

Value ReverseEmitter::Unavailable(diag::SourceSpan place, const std::string& what, Type type) {
  // What follows from the first is not worth a message.
  if (!failed_) {
    diagnostics_
        .Error(diag::E0411, place,
               "the reverse sweep of '@" + std::string(module_.Text(primal_.name)) + "' needs " + what +
                   " from here, and nothing provides it")
        .AddHelp("carry it through the loop, or yield it from the branch, that computes it");
  }
  failed_ = true;
  if (type.IsArray()) return builder_.Alloca(type);
  std::vector<Value> zeros(type.Components(), builder_.Zero(type.ScalarType()));
  return Assemble(type, zeros);
}

void ReverseEmitter::Refuse(diag::ErrorId id, Inst inst, std::string text, std::string help) {
  failed_ = true;
  diagnostics_.Error(id, primal_[inst].span, std::move(text)).AddHelp(std::move(help));
}

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
  std::vector<unsigned char> keep;
  for (const auto& function : module.functions) keep.push_back(function.get() != &segmented);
  module.KeepFunctions(keep);
  return taken;
}

}  // namespace

Function* DeriveReverse(Module& module, Function& primal, const ReverseConfig& config,
                        diag::Diagnostics& diagnostics, KeptRecord* kept, SegmentedKernel* checkpoints) {
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
    diagnostics.Error(diag::E0408, primal.span, "'@" + name + ".grad' is there already")
        .AddHelp("rename it, or derive nothing with '--derive=none': the derived kernel gets this name");
    return nullptr;
  }
  if (primal.grad.Valid()) return CopyUserGradient(module, primal, diagnostics);

  auto analyses = std::make_unique<ReverseAnalyses>(module, primal, config.reread_stored);
  bool races = !CheckWriteRaces(module, primal, &analyses->activity, diagnostics);
  if (!analyses->Check(module, diagnostics) || races) return nullptr;
  std::unique_ptr<Function> segmented;
  transform::StepLoops steps;
  if (checkpoints != nullptr) {
    ADC_CHECK(checkpoints->primal == &primal, "checkpoints of another kernel");
    segmented = TakeSegmented(module, primal, *checkpoints->segmented);
    steps = std::move(checkpoints->steps);
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

  if (kept != nullptr) *kept = DescribeKept(module, from, tree, work, plan, steps);
  ScopedMap values;
  DerivedKernel derived = MakeDerivedKernel(module, from, "grad", "adj", ir::ParamRole::Adjoint,
                                            ir::KernelRole::Gradient, parameters, values);
  Function* gradient = derived.function;
  ReverseEmitter emitter(module, from, config, diagnostics, tree, activity, work, plan, steps,
                         std::move(derived), std::move(values));
  return emitter.Run() ? gradient : nullptr;
}

}  // namespace adc::autodiff

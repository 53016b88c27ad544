// Forward mode: every statement of the primal, and beside each varied float its tangent.
//
//   %v = for %t in 0..%n carry(%a = %v0) {       %v, %tv = for %t in 0..%n carry(%a = %v0, %ta = %tv0) {
//     %b = add (sin %a), 0.1               =>      %b = add (sin %a), 0.1   %tb = mul %ta, (cos %a)
//     yield %b }                                   yield %b, %tb }
//   store %y[%i], %v                             store %y[%i], %v   store %y.tan[%i], %tv
//
// Several directions at once are the same statements with a tangent for each: the primal and the partial
// derivatives are computed once, which is what a direction by itself costs most.
//
// A tangent that is zero is no value at all; where the structure needs one (a carried value, a store) a
// literal stands in. A float adstack gets a twin for tangents: a reverse kernel is a kernel like any other
// here.

#include "autodiff/forward.h"

#include "autodiff/forward_emitter.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Block, ir::Function, ir::Inst, ir::Module, ir::Op, ir::Type, ir::Value;

ForwardEmitter::ForwardEmitter(DerivedBody& body, const Activity& activity, uint32_t directions)
    : Emitter(body),
      activity_(activity),
      directions_(directions),
      slots_(primal_),
      tangents_(size_t{directions} * slots_.Count()),
      twins_(directions),
      infinite_(FindInfinitePartials(primal_)) {}

bool ForwardEmitter::Run() {
  for (const analysis::Task& task : analysis::TasksOf(primal_)) {
    if (failed_) break;
    EmitTask(task);
    if (task.kind == analysis::TaskKind::Parallel) EmitWinners(task);
  }
  builder_.SetBlock(built_.Body());
  builder_.SetSpan({});
  builder_.Terminate(Op::Return, {});
  return !failed_;
}

void ForwardEmitter::EmitTask(const analysis::Task& task) {
  LoadParameterTangents();
  const std::vector<Inst>& body = primal_[primal_.Body()].insts;
  for (uint32_t n = task.first; n < task.last && !failed_; ++n) EmitInst(body[n]);
}

void ForwardEmitter::EmitWinners(const analysis::Task& task) {
  analysis::Structure structure(primal_);
  analysis::MemoryClasses memory(structure);
  analysis::Uses uses(primal_);
  bool any = false;
  for (Inst inst : structure.Order()) {
    Op op = primal_[inst].op;
    if (!structure.Contains(task.parallel, inst) || (op != Op::AtomicMin && op != Op::AtomicMax)) continue;
    Value base = primal_.Operand(inst, 0);
    any = any || (!primal_.TypeOf(base).IsArray() && activity_.VariedMemory(base, primal_[inst].attr));
  }
  if (!any || failed_) return;
  for (Inst inst : structure.Order()) {
    const ir::InstData& data = primal_[inst];
    if (!structure.Contains(task.parallel, inst) || !ir::IsAccess(data.op)) continue;
    if (primal_.TypeOf(primal_.Operand(inst, 0)).IsArray()) continue;
    uint32_t memory_class = memory.ClassOf(inst);
    bool again = data.op == Op::Load && memory_class != analysis::kNoClass &&
                 memory.IsWrittenIn(memory_class, task.parallel);
    bool result = ir::IsAtomic(data.op) && data.result_count > 0 && uses.IsUsed(primal_.Result(inst));
    if (!again && !result) continue;
    Refuse(diag::E0403, inst,
           "the tangent of an 'atomic min' or 'atomic max' in this loop needs the loop to run twice, and "
           "this would differ the second time",
           "take the minimum or maximum in a loop of its own");
    return;
  }
  winners_ = true;
  EmitTask(task);
  winners_ = false;
}

void ForwardEmitter::LoadParameterTangents() {
  for (uint32_t n = 0; n < primal_.params.size(); ++n) {
    Value param = primal_.Params()[n];
    Type type = primal_.TypeOf(param);
    if (!type.IsRegister() || !Companion(n).Valid()) continue;
    builder_.SetSpan(primal_.params[n].span);
    EachDirection([&] {
      for (uint32_t c = 0; c < SlotCount(param); ++c) {
        Value tangent = builder_.Load(Companion(n), {}, ir::kNoAttr, type.IsScalar() ? ir::kNoAttr : c);
        names_.Name(tangent, "t", primal_, param);
        SetTangent(param, tangent, c);
      }
    });
  }
}

void ForwardEmitter::EmitBlock(Block block) {
  for (Inst inst : primal_[block].insts) {
    if (failed_) return;
    if (!ir::IsTerminator(primal_[inst].op)) EmitInst(inst);
  }
}

void ForwardEmitter::EmitInst(Inst inst) {
  const ir::InstData& data = primal_[inst];
  if (ir::IsTerminator(data.op)) return;
  builder_.SetSpan(data.span);
  if (data.op == Op::If) {
    EmitIf(inst);
  } else if (IsSerialLoop(data.op)) {
    EmitLoop(inst);
  } else if (analysis::IsParallel(data.op)) {
    EmitParallel(inst);
  } else if (ir::IsAccess(data.op)) {
    EmitAccess(inst);
  } else if (ir::ClassOf(data.op) == ir::OpClass::Stack) {
    EmitStack(inst);
  } else if (data.op == Op::Alloca) {
    Copy(inst);
    Value array = primal_.Result(inst);
    if (!activity_.Varied(array)) return;
    EachDirection([&] {
      Value twin = builder_.Alloca(primal_.TypeOf(array));
      names_.Name(twin, "t", primal_, array);
      Twins()[array] = twin;
    });
  } else if (data.op == Op::Call && primal_.RegionCount(inst) != 0) {
    EmitBlock(data.regions[0]);  // its body is differentiated like any other
  } else if (data.op == Op::Call) {
    EmitCall(inst);
  } else if (winners_ && (data.op == Op::Print || data.op == Op::Assert)) {
    return;
  } else {
    Copy(inst);
    if (data.result_count != 1 || !activity_.Varied(primal_.Result(inst))) return;
    EachDirection([&] {
      if (ir::ClassOf(data.op) == ir::OpClass::Vector)
        EmitVector(inst);
      else
        EmitArithmetic(inst);
    });
  }
}

void ForwardEmitter::EmitIf(Inst inst) {
  const ir::InstData data = primal_[inst];
  std::vector<Type> types;
  for (uint32_t n = 0; n < data.result_count; ++n) types.push_back(primal_.TypeOf(primal_.Result(inst, n)));
  EachVaried(inst, [&](uint32_t n) {
    Value result = primal_.Result(inst, n);
    types.insert(types.end(), SlotCount(result), primal_.TypeOf(result).ScalarType());
  });
  Inst branch = builder_.If(At(primal_.Operand(inst, 0)), types);
  Block outer = builder_.block();
  for (uint32_t side = 0; side < 2; ++side) {
    builder_.SetBlock(built_[branch].regions[side]);
    EmitBlock(data.regions[side]);
    if (failed_) return;
    builder_.SetSpan(data.span);
    std::vector<Value> yields;
    Inst terminator = primal_.Terminator(data.regions[side]);
    for (uint32_t n = 0; n < data.result_count; ++n) yields.push_back(At(primal_.Operand(terminator, n)));
    EachVaried(inst, [&](uint32_t n) { AppendTangents(primal_.Operand(terminator, n), yields); });
    builder_.Yield(yields);
  }
  builder_.SetBlock(outer);
  TakeResults(inst, branch);
}

void ForwardEmitter::EmitLoop(Inst inst) {
  const ir::InstData data = primal_[inst];
  bool is_for = data.op == Op::For;
  std::vector<Value> initial;
  for (uint32_t k = 0; k < data.result_count; ++k) initial.push_back(At(CarriedInit(primal_, inst, k)));
  EachVaried(inst, [&](uint32_t k) { AppendTangents(CarriedInit(primal_, inst, k), initial); });
  Inst loop;
  if (is_for) {
    std::vector<Value> bounds = AtAll(primal_.Operands(inst).subspan(0, 3));
    loop = builder_.For(bounds[0], bounds[1], bounds[2], initial, data.words);
    built_[loop].attr = data.attr;
  } else {
    loop = builder_.While(data.Has(ir::Word::HasMax) ? At(primal_.Operand(inst, 0)) : Value(), initial,
                          data.words.Of({ir::Word::OrNone}));
  }
  Block outer = builder_.block();
  Block head = built_[loop].regions[0];
  uint32_t next = 0;
  if (is_for) Bind(primal_[data.regions[0]].params[0], built_[head].params[next++]);
  for (uint32_t k = 0; k < data.result_count; ++k)
    Bind(CarriedParam(primal_, inst, k), built_[head].params[next++]);
  EachVaried(inst, [&](uint32_t k) {
    Value param = CarriedParam(primal_, inst, k);
    for (uint32_t c = 0; c < SlotCount(param); ++c) SetTangent(param, built_[head].params[next++], c);
  });
  builder_.SetBlock(head);
  EmitBlock(data.regions[0]);
  if (failed_) return;
  if (!is_for) {
    Value condition = At(analysis::ConditionOf(primal_, inst));
    builder_.SetSpan(data.span);
    builder_.Terminate(Op::ContinueIf, {&condition, 1});
    builder_.SetBlock(built_[loop].regions[1]);
    EmitBlock(data.regions[1]);
    if (failed_) return;
  }
  builder_.SetSpan(data.span);
  std::vector<Value> yields;
  for (uint32_t k = 0; k < data.result_count; ++k) yields.push_back(At(CarriedYield(primal_, inst, k)));
  EachVaried(inst, [&](uint32_t k) { AppendTangents(CarriedYield(primal_, inst, k), yields); });
  builder_.Yield(yields);
  builder_.SetBlock(outer);
  TakeResults(inst, loop);
}

void ForwardEmitter::TakeResults(Inst inst, Inst built) {
  BindResults(inst, built);
  uint32_t next = primal_[inst].result_count;
  EachVaried(inst, [&](uint32_t n) {
    Value result = primal_.Result(inst, n);
    for (uint32_t c = 0; c < SlotCount(result); ++c) SetTangent(result, built_.Result(built, next++), c);
  });
}

void ForwardEmitter::EmitParallel(Inst inst) {
  const ir::InstData data = primal_[inst];
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  Inst loop = data.op == Op::Parallel ? builder_.Parallel(operands, data.attr)
                                      : builder_.ParallelOver(operands[0], data.attr);
  Block outer = builder_.block();
  Block body = built_[loop].regions[0];
  for (size_t n = 0; n < primal_[data.regions[0]].params.size(); ++n)
    Bind(primal_[data.regions[0]].params[n], built_[body].params[n]);
  builder_.SetBlock(body);
  in_parallel_ = true;
  EmitBlock(data.regions[0]);
  in_parallel_ = false;
  builder_.SetSpan(data.span);
  builder_.Yield({});
  builder_.SetBlock(outer);
}

Value ForwardEmitter::TangentMemory(Value base) const {
  Value memory =
      primal_.TypeOf(base).IsArray() ? twins_[direction_].Get(base) : Companion(primal_[base].number);
  ADC_CHECK(memory.Valid(), "differentiable memory has no tangent");
  return memory;
}

Value ForwardEmitter::Provide(Value) {
  ADC_UNREACHABLE("a value is used before it is made");
}

Value ForwardEmitter::Tangent(Value v, uint32_t component) const {
  return primal_.TypeOf(v).IsFloat() ? tangents_[SlotOf(v, component)] : Value();
}

Value ForwardEmitter::TangentOrZero(Value v, uint32_t component) {
  Value tangent = Tangent(v, component);
  return tangent.Valid() ? tangent : builder_.Zero(primal_.TypeOf(v).ScalarType());
}

void ForwardEmitter::SetTangent(Value v, Value tangent, uint32_t component) {
  if (primal_.TypeOf(v).IsScalar()) names_.Name(tangent, "t", primal_, v);
  tangents_[SlotOf(v, component)] = tangent;
}

void ForwardEmitter::AppendTangents(Value v, std::vector<Value>& tangents) {
  for (uint32_t c = 0; c < SlotCount(v); ++c) tangents.push_back(TangentOrZero(v, c));
}

namespace {

/// The parameters that forward mode differentiates: those that the attributes name; of a reverse kernel, the
/// adjoints and the parameters that they belong to.
DiffParameters ForwardParameters(const Module& module, const Function& kernel) {
  DiffParameters parameters = DiffParameters::FromAttributes(module, kernel);
  if (kernel.role != ir::KernelRole::Gradient) return parameters;
  for (uint32_t n = 0; n < kernel.params.size(); ++n) {
    const ir::ParamInfo& info = kernel.params[n];
    if (info.role != ir::ParamRole::Adjoint) continue;
    parameters.is_diff[n] = true;
    if (info.companion_of != ir::kNoAttr) parameters.is_diff[info.companion_of] = true;
  }
  return parameters;
}

}  // namespace

Function* DeriveForward(Module& module, Function& primal, const ForwardConfig& config,
                        diag::Diagnostics& diagnostics) {
  std::string name(module.Text(primal.name));
  std::string suffix = config.directions == 1 ? "jvp" : "jvp" + std::to_string(config.directions);
  if (module.Find(name + "." + suffix) != nullptr) {
    diagnostics.Error(diag::E0408, primal.span, "'@" + name + "." + suffix + "' exists already")
        .AddHelp("rename it, or derive nothing with '--derive=none': the derived kernel gets this name");
    return nullptr;
  }
  DiffParameters parameters = ForwardParameters(module, primal);
  Activity activity(module, primal, parameters);
  ScopedMap values;
  DerivedKernel derived = MakeDerivedKernel(module, primal, suffix, "tan", ir::ParamRole::Tangent,
                                            ir::KernelRole::Tangent, parameters, values, config.directions);
  Function* result = derived.function;
  DerivedBody body(module, primal, diagnostics, std::move(derived), std::move(values));
  return ForwardEmitter(body, activity, config.directions).Run() ? result : nullptr;
}

}  // namespace adc::autodiff

#include "autodiff/sweep.h"

#include "analysis/loops.h"
#include "diag/errors/autodiff.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "ir/wording.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

ReverseKernel::ReverseKernel(ir::Module& of, const ReverseAnalyses& analyses, const ReverseConfig& asked,
                             diag::Diagnostics& reports, DerivedKernel derived, ScopedMap parameters)
    : module(of),
      facts(analyses),
      config(asked),
      diagnostics(reports),
      built(*derived.function),
      companions(std::move(derived.companions)),
      builder(of, *derived.function, derived.function->Body()),
      names(of, *derived.function),
      values(std::move(parameters)) {}

Sweep::Sweep(ReverseKernel& kernel)
    : kernel_(kernel),
      module_(kernel.module),
      primal_(kernel.facts.kernel),
      diagnostics_(kernel.diagnostics),
      tree_(kernel.facts.tree),
      activity_(kernel.facts.activity),
      work_(kernel.facts.work),
      plan_(kernel.facts.plan),
      built_(kernel.built),
      builder_(kernel.builder),
      names_(kernel.names),
      values_(kernel.values) {}

Value Sweep::At(Value v) {
  if (Value known = values_.Get(v.raw); known.Valid()) return known;
  const ir::ValueData& data = primal_[v];
  if (data.kind == ir::ValueKind::Constant) {
    const ir::ConstantData& constant = primal_.ConstantOf(v);
    return built_.Constant(constant.type, constant.bits, constant.spelling);
  }
  if (data.kind == ir::ValueKind::Global) return built_.Global(data.owner, data.type);
  if (plan_.LastingStoreOf(v).Valid()) {
    LoadStored(v);
    return values_.Get(v.raw);
  }
  Inst inst = primal_.DefiningInst(v);
  bool remakes =
      inst.Valid() && (ir::InfoOf(primal_[inst].op).effect == ir::Effect::Pure || Reloadable(inst));
  if (!remakes) {
    Inst owner = inst.Valid() ? inst : primal_[primal_.DefiningBlock(v)].owner;
    return Unavailable(owner.Valid() ? primal_[owner].span : primal_.span, ir::NameOf(module_, primal_, v),
                       primal_.TypeOf(v));
  }
  Recompute(inst);
  return values_.Get(v.raw);
}

bool Sweep::IsAvailable(Value v) const {
  ir::ValueKind kind = primal_[v].kind;
  return kind == ir::ValueKind::Constant || kind == ir::ValueKind::Global || values_.Get(v.raw).Valid();
}

std::vector<Value> Sweep::AtAll(std::span<const Value> values) {
  std::vector<Value> result;
  result.reserve(values.size());
  for (Value v : values) result.push_back(At(v));
  return result;
}

bool Sweep::Reloadable(Inst inst) const {
  return primal_[inst].op == Op::Load && plan_.Reloaded(inst) && !analysis::IsLocalAccess(primal_, inst);
}

void Sweep::Recompute(Inst inst) {
  const ir::InstData& data = primal_[inst];
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  if (data.result_count == 1) {
    std::vector<Type> types;
    for (Value v : operands) types.push_back(built_.TypeOf(v));
    Type result_type = primal_.TypeOf(primal_.Result(inst));
    std::optional<Type> determined =
        ir::InfoOf(data.op).effect == ir::Effect::Pure ? ir::ResultType(data.op, types) : std::nullopt;
    if (determined && *determined == result_type && data.op != Op::StopGradient) {
      Value v = builder_.Make(data.op, operands);
      names_.Name(v, "", primal_, primal_.Result(inst));
      values_.Set(primal_.Result(inst).raw, v);
      return;
    }
  }
  std::vector<Type> results;
  for (uint32_t n = 0; n < data.result_count; ++n) results.push_back(primal_.TypeOf(primal_.Result(inst, n)));
  Inst copy = builder_.Create(data.op, operands, results);
  ir::CopyAttributes(data, built_[copy]);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    values_.Set(primal_.Result(inst, n).raw, built_.Result(copy, n));
    names_.Name(built_.Result(copy, n), "", primal_, primal_.Result(inst, n));
  }
}

void Sweep::LoadStored(Value v) {
  Inst store = plan_.StoreOf(v);
  const ir::InstData data = primal_[store];
  std::vector<Value> indices = AtAll(primal_.Indices(store));
  Value loaded = builder_.Load(At(primal_.Operand(store, 0)), indices, data.attr, data.component);
  names_.Name(loaded, "", primal_, v);
  values_.Set(v.raw, loaded);
}

uint32_t Sweep::AuxKey(Inst inst) const {
  return static_cast<uint32_t>(primal_.ValueCount()) + inst.raw;
}

Value Sweep::IterationSlot(Inst loop, Value index) {
  if (primal_[loop].op == Op::While) return index;
  return analysis::IterationNumber(builder_, index, At(primal_.Operand(loop, 0)),
                                   At(primal_.Operand(loop, 2)));
}

void Sweep::CopyApart(const ir::InstData& loop, Inst made) {
  if (!loop.Has(ir::Word::Apart)) return;
  built_[made].words.Add(ir::Word::Apart);
  built_[made].attr = loop.attr;
}

Value Sweep::Assemble(Type type, std::span<const Value> components) {
  if (type.IsScalar()) return components[0];
  Op op = type.IsVec() ? Op::VecMake : Op::MatMake;
  return built_.Result(builder_.Create(op, components, {&type, 1}));
}

void Sweep::ForEachElement(Value array, const std::function<void(Value index, uint32_t component)>& body) {
  Type type = primal_.TypeOf(array);
  Inst loop = builder_.For(builder_.I32(0), builder_.I32(static_cast<int32_t>(type.count)), builder_.I32(1),
                           {}, {ir::Word::Apart});
  ir::Block outer = builder_.block();
  builder_.SetBlock(built_[loop].regions[0]);
  for (uint32_t c = 0; c < type.Components(); ++c) body(built_[built_[loop].regions[0]].params[0], c);
  builder_.Yield({});
  builder_.SetBlock(outer);
}

Value Sweep::SnapshotSlot(Value array, Value iteration, Value index, uint32_t component) {
  Type type = primal_.TypeOf(array);
  Type wide = built_.TypeOf(iteration);
  Value words = builder_.Int(wide, static_cast<int64_t>(type.count) * type.Components());
  Value inner = builder_.Make(
      Op::Add, {builder_.Make(Op::Mul, {builder_.Cast(index, wide), builder_.Int(wide, type.Components())}),
                builder_.Int(wide, component)});
  return builder_.Make(Op::Add, {builder_.Make(Op::Mul, {iteration, words}), inner});
}

Value Sweep::Unavailable(diag::SourceSpan place, const std::string& what, Type type) {
  // Errors that follow from the first are not reported.
  if (!kernel_.failed) {
    diagnostics_
        .Error(diag::E0411, place,
               "the reverse sweep of '@" + std::string(module_.Text(primal_.name)) + "' needs " + what +
                   " from here, and the compiler cannot make it available")
        .AddHelp("carry it through the loop, or yield it from the branch, that computes it");
  }
  kernel_.failed = true;
  if (type.IsArray()) return builder_.Alloca(type);
  std::vector<Value> zeros(type.Components(), builder_.Zero(type.ScalarType()));
  return Assemble(type, zeros);
}

}  // namespace adc::autodiff

#include "autodiff/sweep.h"

#include "analysis/loops.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "ir/wording.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

Sweep::Sweep(ReverseKernel& kernel)
    : Emitter(kernel),
      kernel_(kernel),
      tree_(kernel.facts.tree),
      activity_(kernel.facts.activity),
      work_(kernel.facts.work),
      plan_(kernel.facts.plan) {}

Value Sweep::Provide(Value v) {
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

bool Sweep::Reloadable(Inst inst) const {
  return primal_[inst].op == Op::Load && plan_.Reloaded(inst) && !analysis::IsLocalAccess(primal_, inst);
}

void Sweep::Recompute(Inst inst) {
  const ir::InstData& data = primal_[inst];
  bool is_pure = ir::InfoOf(data.op).effect == ir::Effect::Pure && data.op != Op::StopGradient;
  if (is_pure && data.result_count == 1) {
    std::vector<Value> operands = AtAll(primal_.Operands(inst));
    std::vector<Type> types;
    for (Value v : operands) types.push_back(built_.TypeOf(v));
    if (ir::ResultType(data.op, types) == primal_.TypeOf(primal_.Result(inst)))
      return Bind(primal_.Result(inst), builder_.Make(data.op, operands));
  }
  Copy(inst);
}

void Sweep::LoadStored(Value v) {
  Inst store = plan_.StoreOf(v);
  const ir::InstData data = primal_[store];
  std::vector<Value> indices = AtAll(primal_.Indices(store));
  Value loaded = builder_.Load(At(primal_.Operand(store, 0)), indices, data.attr, data.component);
  Bind(v, loaded);
}

uint32_t Sweep::AuxKey(Inst inst) const {
  return static_cast<uint32_t>(primal_.ValueCount()) + inst.raw;
}

Value Sweep::IterationSlot(Inst loop, Value index) {
  if (primal_[loop].op == Op::While) return index;
  return analysis::IterationNumber(builder_, index, At(primal_.Operand(loop, 0)),
                                   At(primal_.Operand(loop, 2)));
}

Value Sweep::IsLast(Inst loop, bool reversed) {
  Value last = reversed ? built_.Operand(loop, 0)
                        : builder_.Make(Op::Sub, {built_.Operand(loop, 1), built_.Operand(loop, 2)});
  return builder_.Make(Op::Eq, {built_[built_[loop].regions[0]].params[0], last});
}

void Sweep::CopyApart(const ir::InstData& loop, Inst made) {
  if (!loop.Has(ir::Word::Apart)) return;
  built_[made].words.Add(ir::Word::Apart);
  built_[made].attr = loop.attr;
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

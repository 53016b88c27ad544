// The adjoint sweep of memory. `%x.adj` stands beside `%x` cell by cell.
//
//   %v = load %x[%i]       =>  add_to %x.adj[%i], %gv
//   store %y[%i], %v       =>  %g = load %y.adj[%i]   store %y.adj[%i], 0.0   %gv += %g
//   atomic add %y[%i], %v  =>  %gv += load %y.adj[%i]
//   atomic min %y[%i], %v  =>  where %v is the final %y[%i]:  %gv += atomic exchange %y.adj[%i], 0.0
//
// A store consumes its cell's adjoint for any stored value: the result does not depend on what was there
// before. Of several iterations that reached the same minimum exactly one takes the adjoint, by the exchange.
// A parameter that is a scalar collects its adjoint in a register and adds it to memory once per iteration.
// So does a load inside a serial loop whose address does not change with the loop (held_updates.h): one
// update after the loop, if it ran at all.

#include "autodiff/adjoint_sweep.h"
#include "autodiff/rules.h"
#include "autodiff/save_final_values.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

void AdjointSweep::ReverseAccess(Inst inst) {
  const ir::InstData data = primal_[inst];
  Value base = primal_.Operand(inst, 0);
  bool local = primal_.TypeOf(base).IsArray();
  Value memory = local ? adjoint_arrays_.Get(base.raw) : CompanionOf(base);
  ADC_CHECK(memory.Valid(), "differentiable memory has no adjoint");
  Value taken = data.op == Op::Load ? AdjointOf(primal_.Result(inst)) : Value();
  if (data.op == Op::Load) {
    if (!taken.Valid()) return;
    taken = Leave(taken, zeros_.SideOf(primal_.Result(inst)), 0);
  }
  if (held_.Has(inst)) {
    adjoints_.Add(held_.SlotOf(inst), taken);
    return;
  }
  std::vector<Value> indices = AtAll(primal_.Indices(inst));
  auto load = [&] { return builder_.Load(memory, indices, data.attr, data.component); };
  auto store = [&](Value v) {
    builder_.Access(Op::Store, memory, indices, {&v, 1}, data.attr, data.component);
  };
  if (data.op == Op::Load) {
    if (local) {
      store(builder_.Make(Op::Add, {load(), taken}));
    } else {
      taken = builder_.Cast(taken, primal_.TypeOf(primal_.Result(inst)));
      builder_.Access(Op::AddTo, memory, indices, {&taken, 1}, data.attr, data.component);
    }
    return;
  }
  Value v = primal_.AccessValues(inst)[0];
  Type type = local ? AdjointType(primal_.TypeOf(v)) : primal_.TypeOf(v);
  ADC_CHECK(type.IsScalar(), "a whole vector is accessed in a scalar module");
  if (data.op == Op::Store) {
    if (activity_.Active(v)) {
      Value g = load();
      names_.Name(g, "g", primal_, v);
      store(builder_.Zero(type));
      Accumulate(v, g);
    } else {
      store(builder_.Zero(type));
    }
  } else if (data.op == Op::AtomicAdd) {
    Accumulate(v, load());
  } else if (data.op == Op::AtomicSub) {
    Accumulate(v, builder_.Make(Op::Neg, {load()}));
  } else {
    ADC_CHECK((data.op == Op::AtomicMin || data.op == Op::AtomicMax) && !local,
              "an atomic without a derivative was not refused");
    ReverseAtomicExtremum(inst, memory, indices);
  }
}

void AdjointSweep::ReverseAtomicExtremum(Inst inst, Value memory, const std::vector<Value>& indices) {
  const ir::InstData data = primal_[inst];
  Value v = primal_.AccessValues(inst)[0];
  Type type = primal_.TypeOf(v);
  Value final_value = FinalValue(inst, indices);
  Value wins = builder_.Make(Op::Eq, {At(v), final_value});
  uint32_t results = activity_.Active(v) ? 1 : 0;
  Value zero = builder_.Zero(type);
  auto take = [&] {
    Value taken = builder_.Access(Op::AtomicExchange, memory, indices, {&zero, 1}, data.attr, data.component);
    builder_.Yield({&taken, results});
  };
  Inst branch = builder_.Branch(wins, {&type, results}, take, [&] { builder_.Yield({&zero, results}); });
  if (results > 0) Accumulate(v, built_.Result(branch));
}

/// The value of an extremum's cell when all iterations are done: the kernel has left it there, or saved it.
Value AdjointSweep::FinalValue(Inst inst, const std::vector<Value>& indices) {
  const ir::InstData& data = primal_[inst];
  Value base = primal_.Operand(inst, 0);
  Inst copy = plan_.FinalOf(inst, base, data.component);
  if (!copy.Valid()) return builder_.Load(At(base), indices, data.attr, data.component);
  return LoadFinalValue(builder_, At(primal_.Operand(copy, 0)), At(base), indices);
}

void AdjointSweep::FlushHeldUpdates(Inst loop) {
  for (Inst load : held_.LoadsOf(loop)) {
    uint32_t slot = held_.SlotOf(load);
    Value g = adjoints_.Of(slot);
    if (adjoints_.IsZero(g)) continue;
    const ir::InstData& data = primal_[load];
    builder_.SetSpan(data.span);
    // If a loop did not run, the address may not exist.
    Value ran;
    for (Inst around = primal_[data.parent].owner;; around = primal_[primal_[around].parent].owner) {
      if (around == loop || !primal_[around].Has(ir::Word::Steps)) {
        Value some = builder_.Make(Op::Lt, {At(primal_.Operand(around, 0)), At(primal_.Operand(around, 1))});
        ran = ran.Valid() ? builder_.Make(Op::And, {some, ran}) : some;
      }
      if (around == loop) break;
    }
    std::vector<Value> indices = AtAll(primal_.Indices(load));
    Value memory = CompanionOf(primal_.Operand(load, 0));
    g = builder_.Cast(g, primal_.TypeOf(primal_.Result(load)));
    auto update = [&] { builder_.Access(Op::AddTo, memory, indices, {&g, 1}, data.attr, data.component); };
    if (built_.IsConstant(ran)) {
      update();
    } else {
      builder_.Where(ran, update);
    }
    adjoints_.Set(slot, Value());
  }
}

void AdjointSweep::FlushParameters() {
  for (uint32_t n = 0; n < primal_.params.size(); ++n) {
    Value param = primal_.Params()[n];
    Type type = primal_.TypeOf(param);
    if (!type.IsRegister() || !activity_.IsDiff(n)) continue;
    builder_.SetSpan(primal_.params[n].span);
    for (uint32_t c = 0; c < slots_.CountOf(param); ++c) {
      Value g = adjoints_.Of(slots_.Of(param, c));
      if (adjoints_.IsZero(g)) continue;
      g = builder_.Cast(g, type.ScalarType());
      builder_.Access(Op::AddTo, companions_[n], {}, {&g, 1}, ir::kNoAttr, type.IsScalar() ? ir::kNoAttr : c);
    }
  }
}

}  // namespace adc::autodiff

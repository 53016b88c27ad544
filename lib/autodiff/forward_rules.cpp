// Tangents of single statements. Arithmetic follows the table of partial derivatives: the tangent of a result
// is the sum over its operands of the partial, scaled by the operand's tangent.

#include "autodiff/forward_emitter.h"
#include "autodiff/rules.h"
#include "autodiff/strong_zero.h"
#include "diag/errors/autodiff.h"
#include "ir/module.h"
#include "ir/op_sets.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

void ForwardEmitter::EmitArithmetic(Inst inst) {
  const ir::InstData& data = primal_[inst];
  Value result = primal_.Result(inst);
  if (data.op == Op::Cast) {
    if (Value tangent = Tangent(primal_.Operand(inst, 0)); tangent.Valid())
      SetTangent(result, builder_.Cast(tangent, primal_.TypeOf(result)));
    return;
  }
  if (!HasPartials(data.op)) return;
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  // Of two sides one is taken: select its tangent instead of summing what is left of both.
  if (data.op == Op::Select || data.op == Op::Min || data.op == Op::Max) {
    uint32_t first = data.op == Op::Select ? 1 : 0;
    Value a = primal_.Operand(inst, first), b = primal_.Operand(inst, first + 1);
    if (!Tangent(a).Valid() && !Tangent(b).Valid()) return;
    Value takes_first = data.op == Op::Select
                            ? operands[0]
                            : builder_.Make(data.op == Op::Min ? Op::Lt : Op::Gt, {operands[0], operands[1]});
    // A zero adjoint that has a derivative is not one of something unread.
    if (Value s = SeedOfStrongZero(primal_, inst); s.Valid() && Tangent(s).Valid())
      takes_first = builder_.Make(
          Op::And,
          {takes_first, builder_.Make(Op::Eq, {Tangent(s), builder_.Zero(built_.TypeOf(Tangent(s)))})});
    SetTangent(result, builder_.Make(Op::Select, {takes_first, TangentOrZero(a), TangentOrZero(b)}));
    return;
  }
  Value sum;
  PartialForm form = FormOfPartials(primal_, inst);
  bool is_strong = infinite_.Has(inst);
  for (uint32_t n = 0; n < data.operand_count; ++n) {
    Value tangent = Tangent(primal_.Operand(inst, n));
    if (!tangent.Valid()) continue;
    Value part = ScaledPartial(builder_, data.op, form, n, operands, At(result), tangent);
    if (is_strong) part = StrongZero(builder_, tangent).Of(part);
    sum = sum.Valid() ? builder_.Make(Op::Add, {sum, part}) : part;
  }
  if (sum.Valid()) SetTangent(result, sum);
}

void ForwardEmitter::EmitVector(Inst inst) {
  const ir::InstData& data = primal_[inst];
  Value result = primal_.Result(inst);
  std::span<const Value> operands = primal_.Operands(inst);
  if (data.op == Op::VecMake || data.op == Op::MatMake) {
    uint32_t component = 0;
    for (Value operand : operands)
      for (uint32_t c = 0; c < SlotCount(operand); ++c, ++component)
        if (Value tangent = Tangent(operand, c); tangent.Valid()) SetTangent(result, tangent, component);
    return;
  }
  if (data.op == Op::VecSet) {
    Value index = At(operands[1]);
    for (uint32_t c = 0; c < SlotCount(result); ++c) {
      Value here = builder_.Make(Op::Eq, {index, builder_.Int(built_.TypeOf(index), c)});
      SetTangent(result,
                 builder_.Make(Op::Select, {here, TangentOrZero(operands[2]), TangentOrZero(operands[0], c)}),
                 c);
    }
    return;
  }
  ADC_CHECK(data.op == Op::VecGet || data.op == Op::MatGet, "a vector operation is left in a scalar module");
  Value source = operands[0];
  Value index = At(operands[1]);
  if (data.op == Op::MatGet) {
    Type type = built_.TypeOf(index);
    Value row = builder_.Make(Op::Mul, {index, builder_.Int(type, primal_.TypeOf(source).columns)});
    index = builder_.Make(Op::Add, {row, builder_.Cast(At(operands[2]), type)});
  }
  if (std::optional<int64_t> place = built_.IntegerConstant(index)) {
    if (*place < 0 || *place >= SlotCount(source)) return;
    if (Value tangent = Tangent(source, static_cast<uint32_t>(*place)); tangent.Valid())
      SetTangent(result, tangent);
    return;
  }
  Value chosen = TangentOrZero(source, 0);
  for (uint32_t c = 1; c < SlotCount(source); ++c) {
    Value here = builder_.Make(Op::Eq, {index, builder_.Int(built_.TypeOf(index), c)});
    chosen = builder_.Make(Op::Select, {here, TangentOrZero(source, c), chosen});
  }
  SetTangent(result, chosen);
}

Value ForwardEmitter::WholeTangent(Value v) {
  std::vector<Value> components;
  AppendTangents(v, components);
  return Assemble(primal_.TypeOf(v), components);
}

void ForwardEmitter::SetWholeTangent(Value v, Value tangent) {
  for (uint32_t c = 0; c < SlotCount(v); ++c) SetTangent(v, Component(tangent, c), c);
}

void ForwardEmitter::EmitCall(Inst inst) {
  const ir::InstData data = primal_[inst];
  Copy(inst);
  bool varied = false;
  uint32_t float_results = 0, float_operands = 0;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (primal_.TypeOf(primal_.Result(inst, n)).IsFloat()) ++float_results;
    if (activity_.Varied(primal_.Result(inst, n))) varied = true;
  }
  if (!varied) return;
  const ir::Function* callee = module_.Find(data.symbol);
  ADC_CHECK(callee != nullptr, "a call names no function");
  const ir::Function* tangent = callee->jvp.Valid() ? module_.Find(callee->jvp) : nullptr;
  if (tangent == nullptr) {
    Refuse(diag::E0407, inst,
           "'@" + std::string(module_.Text(callee->name)) +
               "' has a derivative of its own for reverse mode only",
           "give the function a 'jvp' as well, or leave out its 'vjp'");
    return;
  }
  for (Value v : primal_.Operands(inst)) float_operands += primal_.TypeOf(v).IsFloat() ? 1 : 0;
  if (tangent->params.size() != data.operand_count + float_operands ||
      tangent->result_types.size() != float_results) {
    Refuse(diag::E0407, inst,
           "'@" + std::string(module_.Text(tangent->name)) + "' does not have the signature of a jvp of '@" +
               std::string(module_.Text(callee->name)) + "'",
           "it takes the arguments of the function, then a tangent per float argument, and returns one "
           "tangent per "
           "float result");
    return;
  }
  EachDirection([&] { EmitCallTangent(inst, *tangent); });
}

void ForwardEmitter::EmitCallTangent(Inst inst, const ir::Function& tangent) {
  const ir::InstData data = primal_[inst];
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  for (Value v : primal_.Operands(inst))
    if (primal_.TypeOf(v).IsFloat()) operands.push_back(WholeTangent(v));
  Inst call = builder_.Create(Op::Call, operands, tangent.result_types);
  built_[call].symbol = tangent.name;
  uint32_t next = 0;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Value result = primal_.Result(inst, n);
    if (primal_.TypeOf(result).IsFloat()) SetWholeTangent(result, built_.Result(call, next++));
  }
}

void ForwardEmitter::EmitAccess(Inst inst) {
  const ir::InstData data = primal_[inst];
  Value base = primal_.Operand(inst, 0);
  bool varied = activity_.VariedMemory(base, data.attr);
  bool effect = data.op != Op::Load && !primal_.TypeOf(base).IsArray();
  bool extremum = data.op == Op::AtomicMin || data.op == Op::AtomicMax;
  if (winners_ && effect && !(varied && extremum)) return;
  if (!varied) {
    Copy(inst);
    return;
  }
  std::vector<Value> indices = AtAll(primal_.Indices(inst));
  // clang-format off
  switch (ir::In<ir::AccessOp>(data.op)) {
    using enum ir::AccessOp;
    case AtomicMin: case AtomicMax:
      return winners_ && effect ? EmitWinner(inst, indices) : EmitExtremum(inst, indices);
    case AtomicMul: return EmitProduct(inst, indices);
    case AtomicCompareExchange: {
      // Replaced exactly when the old value was the expected one.
      Value old = built_.Result(Copy(inst));
      Value replaced = builder_.Make(Op::Eq, {old, At(primal_.AccessValues(inst)[0])});
      return StoreTangentsWhere(replaced, inst, indices, primal_.AccessValues(inst)[1], Op::Store);
    }
    case Load: case Store: case AtomicAdd: case AtomicSub: case AddTo: case AtomicExchange:
      Copy(inst);
      return EachDirection([&] { EmitMemoryTangent(inst, indices); });
    case AtomicAnd: case AtomicOr: case AtomicXor: case StoreTexel: case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("access to memory of floats");
}

void ForwardEmitter::EmitMemoryTangent(Inst inst, std::span<const Value> indices) {
  const ir::InstData data = primal_[inst];
  Value memory = TangentMemory(primal_.Operand(inst, 0));
  if (data.op == Op::Load) {
    if (activity_.Varied(primal_.Result(inst)))
      SetTangent(primal_.Result(inst), builder_.Load(memory, indices, data.attr, data.component));
    return;
  }
  Value v = primal_.AccessValues(inst)[0];
  bool sums = data.op == Op::AtomicAdd || data.op == Op::AtomicSub || data.op == Op::AddTo;
  bool result_varied = data.result_count > 0 && activity_.Varied(primal_.Result(inst));
  if (sums && !Tangent(v).Valid() && !result_varied) return;
  Value tangent = TangentOrZero(v);
  Value old = builder_.Access(data.op, memory, indices, {&tangent, 1}, data.attr, data.component, data.words);
  if (result_varied) SetTangent(primal_.Result(inst), old);
}

void ForwardEmitter::StoreTangentsWhere(Value condition, Inst inst, std::span<const Value> indices, Value v,
                                        Op how) {
  const ir::InstData data = primal_[inst];
  builder_.Where(condition, [&] {
    EachDirection([&] {
      Value tangent = TangentOrZero(v);
      builder_.Access(how, TangentMemory(primal_.Operand(inst, 0)), indices, {&tangent, 1}, data.attr,
                      data.component);
    });
  });
}

/// d(x v) = dx v + x dv, with the x that the update met: in a parallel loop value and tangent cannot be
/// updated at once.
void ForwardEmitter::EmitProduct(Inst inst, std::span<const Value> indices) {
  const ir::InstData data = primal_[inst];
  if (in_parallel_) {
    Refuse(diag::E0403, inst, "'atomic mul' of a 'diff' buffer has no derivative",
           "each factor's derivative is the product of the others, which is not recorded: multiply in a "
           "serial loop "
           "that owns the element, or add logarithms of positive factors");
    return;
  }
  Inst copy = Copy(inst);
  Value v = primal_.AccessValues(inst)[0];
  EachDirection([&] {
    Value memory = TangentMemory(primal_.Operand(inst, 0));
    Value before = builder_.Load(memory, indices, data.attr, data.component);
    Value after = builder_.Make(Op::Mul, {before, At(v)});
    if (Tangent(v).Valid())
      after = builder_.Make(Op::Add, {after, builder_.Make(Op::Mul, {built_.Result(copy), Tangent(v)})});
    builder_.Access(Op::Store, memory, indices, {&after, 1}, data.attr, data.component);
    if (data.result_count > 0 && activity_.Varied(primal_.Result(inst)))
      SetTangent(primal_.Result(inst), before);
  });
}

void ForwardEmitter::EmitExtremum(Inst inst, std::span<const Value> indices) {
  const ir::InstData data = primal_[inst];
  Value old = built_.Result(Copy(inst));
  // The tangent follows when every iteration has run.
  if (in_parallel_ && !primal_.TypeOf(primal_.Operand(inst, 0)).IsArray()) return;
  Value v = primal_.AccessValues(inst)[0];
  if (activity_.Varied(primal_.Result(inst))) {
    EachDirection([&] {
      Value memory = TangentMemory(primal_.Operand(inst, 0));
      SetTangent(primal_.Result(inst), builder_.Load(memory, indices, data.attr, data.component));
    });
  }
  Value wins = builder_.Make(data.op == Op::AtomicMin ? Op::Lt : Op::Gt, {At(v), old});
  StoreTangentsWhere(wins, inst, indices, v, Op::Store);
}

void ForwardEmitter::EmitWinner(Inst inst, std::span<const Value> indices) {
  const ir::InstData data = primal_[inst];
  Value v = primal_.AccessValues(inst)[0];
  Value final_value = builder_.Load(At(primal_.Operand(inst, 0)), indices, data.attr, data.component);
  StoreTangentsWhere(builder_.Make(Op::Eq, {At(v), final_value}), inst, indices, v, Op::AtomicExchange);
}

void ForwardEmitter::EmitStack(Inst inst) {
  const ir::InstData data = primal_[inst];
  Copy(inst);
  Value stack = data.op == Op::StackNew ? primal_.Result(inst) : primal_.Operand(inst, 0);
  if (!ir::IsFloat(primal_.TypeOf(stack).scalar)) return;
  EachDirection([&] { EmitStackTangent(inst); });
}

void ForwardEmitter::EmitStackTangent(Inst inst) {
  const ir::InstData data = primal_[inst];
  Value stack = data.op == Op::StackNew ? primal_.Result(inst) : primal_.Operand(inst, 0);
  if (data.op == Op::StackNew) {
    Value twin = builder_.StackNew(primal_.TypeOf(stack).scalar);
    names_.Name(twin, "t", primal_, stack);
    Twins()[stack] = twin;
    return;
  }
  bool has_slot = data.Has(ir::Word::HasSlot);
  Value slot = has_slot ? At(primal_.Operands(inst).back()) : Value();
  if (data.op == Op::StackPush) {
    builder_.StackPush(Twins().Get(stack), TangentOrZero(primal_.Operand(inst, 1)), slot);
    return;
  }
  Type type = primal_.TypeOf(primal_.Result(inst));
  Value operands[] = {Twins().Get(stack), slot};
  Inst read = builder_.Create(data.op, {operands, has_slot ? 2u : 1u}, {&type, 1});
  built_[read].words = data.words;
  SetTangent(primal_.Result(inst), built_.Result(read));
}

}  // namespace adc::autodiff

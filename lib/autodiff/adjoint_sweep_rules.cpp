// The adjoint sweep of what lives in registers: arithmetic by the table of partial derivatives, vectors
// component by component, and calls of functions that name their own derivative.

#include "autodiff/adjoint_sweep.h"
#include "autodiff/rules.h"
#include "autodiff/strong_zero.h"
#include "autodiff/vjp_reads.h"
#include "diag/errors/autodiff.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

void AdjointSweep::ReverseArithmetic(Inst inst) {
  const ir::InstData& data = primal_[inst];
  Value result = primal_.Result(inst);
  Value g = AdjointOf(result);
  if (!g.Valid()) return;
  Inst seed = zeros_.SeedOf(inst);
  StrongZero zero(builder_, seed.Valid() ? AdjointOf(primal_.Result(seed)) : Value());
  auto hand = [&](Value operand, Value part) {
    Inst source = primal_.DefiningInst(operand);
    bool shares = source.Valid() && source != seed && zeros_.SeedOf(source) == seed;
    uint32_t from = zeros_.SideOf(result), to = SideFrom(inst, operand);
    if (!shares && from == to) return AccumulateStrongly(operand, part, zero);
    Accumulate(operand, Leave(shares ? part : zero.Of(part), from, to));
  };
  if (data.op == Op::Cast) {
    Value source = primal_.Operand(inst, 0);
    return hand(source, builder_.Cast(g, AdjointType(primal_.TypeOf(source))));
  }
  if (data.op == Op::Select || data.op == Op::Min || data.op == Op::Max) return ReverseSelection(inst, g);
  uint8_t active = ActiveOperandMask(primal_, activity_, inst);
  PartialForm form = FormOfPartials(primal_, inst);
  PartialReads reads = ReadsOfPartials(primal_, inst, active);
  std::vector<Value> operands(data.operand_count);
  for (uint32_t n = 0; n < data.operand_count; ++n)
    if (reads.operands & (1u << n)) operands[n] = At(primal_.Operand(inst, n));
  Value forward = reads.result ? At(result) : Value();
  for (uint32_t n = 0; n < data.operand_count; ++n) {
    if (!(active & (1u << n))) continue;
    hand(primal_.Operand(inst, n), ScaledPartial(builder_, data.op, form, n, operands, forward, g));
  }
}

/// Adds a product with the seed of `zero`.
void AdjointSweep::AccumulateStrongly(Value v, Value product, StrongZero& zero) {
  if (!activity_.Active(v) || adjoints_.IsZero(product)) return;
  uint32_t slot = slots_.Of(v);
  Value so_far = adjoints_.Of(slot);
  if (adjoints_.IsZero(so_far)) return adjoints_.Add(slot, zero.Of(product));
  Value sum = zero.AddedTo(so_far, builder_.Cast(product, slots_.TypeOf(slot)));
  adjoints_.Set(slot, sum);
  names_.Name(sum, "g", primal_, v);
}

void AdjointSweep::ReverseSelection(Inst inst, Value g) {
  uint32_t first = primal_[inst].op == Op::Select ? 1 : 0;
  for (uint32_t arm : {first, first + 1}) {
    Value operand = primal_.Operand(inst, arm);
    if (activity_.Active(operand))
      Accumulate(operand, Leave(g, zeros_.SideOfArm(inst, arm), SideFrom(inst, operand)));
  }
}

uint32_t AdjointSweep::SideFrom(Inst user, Value operand) const {
  return primal_.DefiningBlock(operand) == primal_[user].parent ? zeros_.SideOf(operand) : 0;
}

Value AdjointSweep::Leave(Value g, uint32_t from, uint32_t to) {
  if (from == to) return g;
  auto [condition, wanted] = ConditionOf(from, to);
  return MaskedBy(builder_, condition, wanted, g);
}

std::pair<Value, bool> AdjointSweep::ConditionOf(uint32_t from, uint32_t to) {
  auto [condition, wanted] = ConditionOf(zeros_.Side(from));
  for (uint32_t at = zeros_.Side(from).around; at != to; at = zeros_.Side(at).around) {
    if (!wanted) condition = builder_.Make(Op::Not, {condition});
    auto [around, around_wanted] = ConditionOf(zeros_.Side(at));
    if (!around_wanted) around = builder_.Make(Op::Not, {around});
    condition = builder_.Make(Op::And, {around, condition});
    wanted = true;
  }
  return {condition, wanted};
}

std::pair<Value, bool> AdjointSweep::ConditionOf(const SelectedSide& side) {
  Op op = primal_[side.selection].op;
  if (op == Op::Select) return {At(primal_.Operand(side.selection, 0)), side.arm == 1};
  if (op == Op::If) return {At(primal_.Operand(side.selection, 0)), side.arm == 0};
  // As partials.ir has it.
  Value result = At(primal_.Result(side.selection)), b = At(primal_.Operand(side.selection, 1));
  return {builder_.Make(op == Op::Min ? Op::Lt : Op::Gt, {result, b}), side.arm == 0};
}

void AdjointSweep::ReverseVector(Inst inst) {
  const ir::InstData& data = primal_[inst];
  Value result = primal_.Result(inst);
  std::span<const Value> operands = primal_.Operands(inst);
  std::optional<int64_t> constant = data.operand_count > 1 && data.op != Op::VecMake && data.op != Op::MatMake
                                        ? primal_.IntegerConstant(operands[1])
                                        : std::nullopt;
  if (data.op == Op::VecMake || data.op == Op::MatMake) {
    uint32_t component = 0;
    for (Value operand : operands) {
      for (uint32_t c = 0; c < slots_.CountOf(operand); ++c, ++component)
        if (Value g = adjoints_.Of(slots_.Of(result, component)); g.Valid()) Accumulate(operand, g, c);
    }
    return;
  }
  if (data.op == Op::VecSet) {
    Type element = AdjointType(primal_.TypeOf(operands[2]));
    for (uint32_t c = 0; c < slots_.CountOf(result); ++c) {
      Value g = adjoints_.Of(slots_.Of(result, c));
      if (!g.Valid()) continue;
      if (constant) {
        Accumulate(*constant == c ? operands[2] : operands[0], g, *constant == c ? 0 : c);
        continue;
      }
      Value index = At(operands[1]);
      Value replaced = builder_.Make(Op::Eq, {index, builder_.Int(built_.TypeOf(index), c)});
      Value zero = builder_.Zero(element);
      Accumulate(operands[2], builder_.Make(Op::Select, {replaced, g, zero}));
      Accumulate(operands[0], builder_.Make(Op::Select, {replaced, zero, g}), c);
    }
    return;
  }
  ADC_CHECK(data.op == Op::VecGet || data.op == Op::MatGet, "a vector operation is left in a scalar module");
  Value g = AdjointOf(result);
  if (!g.Valid()) return;
  Value source = operands[0];
  Value index = At(operands[1]);
  if (data.op == Op::MatGet) {
    Type type = built_.TypeOf(index);
    Value columns = builder_.Int(type, primal_.TypeOf(source).columns);
    index = builder_.Make(Op::Add,
                          {builder_.Make(Op::Mul, {index, columns}), builder_.Cast(At(operands[2]), type)});
  }
  if (std::optional<int64_t> place = built_.IntegerConstant(index)) {
    if (*place >= 0 && *place < slots_.CountOf(source)) Accumulate(source, g, static_cast<uint32_t>(*place));
    return;
  }
  for (uint32_t c = 0; c < slots_.CountOf(source); ++c) {
    Value here = builder_.Make(Op::Eq, {index, builder_.Int(built_.TypeOf(index), c)});
    Accumulate(source, builder_.Make(Op::Select, {here, g, builder_.Zero(built_.TypeOf(g))}), c);
  }
}

void AdjointSweep::ReverseCall(Inst inst) {
  const ir::InstData data = primal_[inst];
  const ir::Function* callee = module_.Find(data.symbol);
  ADC_CHECK(callee != nullptr, "a call names no function");
  const ir::Function* adjoint = callee->vjp.Valid() ? module_.Find(callee->vjp) : nullptr;
  if (adjoint == nullptr) {
    Refuse(diag::E0407, inst,
           "'@" + std::string(module_.Text(callee->name)) +
               "' has a derivative of its own for forward mode only",
           "give the function a 'vjp' as well, or leave out its 'jvp'");
    return;
  }
  if (primal_.RegionCount(inst) != 0) return ReverseInPlace(inst, *adjoint);
  bool seeded = false;
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Value result = primal_.Result(inst, n);
    if (!primal_.TypeOf(result).IsFloat()) continue;
    std::vector<Value> components;
    Type scalar = primal_.TypeOf(result).ScalarType();
    for (uint32_t c = 0; c < slots_.CountOf(result); ++c) {
      Value g = activity_.Active(result) ? adjoints_.Of(slots_.Of(result, c)) : Value();
      if (g.Valid()) seeded = true;
      components.push_back(g.Valid() ? builder_.Cast(g, scalar) : builder_.Zero(scalar));
    }
    operands.push_back(Assemble(primal_.TypeOf(result), components));
  }
  if (!seeded) return;
  uint32_t floats = 0;
  for (Value v : primal_.Operands(inst))
    if (primal_.TypeOf(v).IsFloat()) ++floats;
  if (adjoint->params.size() != operands.size() || adjoint->result_types.size() != floats) {
    Refuse(diag::E0407, inst,
           "'@" + std::string(module_.Text(adjoint->name)) + "' does not have the signature of a vjp of '@" +
               std::string(module_.Text(callee->name)) + "'",
           "it takes the arguments of the function, then an adjoint per float result, and returns one "
           "adjoint per "
           "float argument");
    return;
  }
  Inst call = builder_.Create(Op::Call, operands, adjoint->result_types);
  built_[call].symbol = adjoint->name;
  uint32_t next = 0;
  for (Value v : primal_.Operands(inst)) {
    if (!primal_.TypeOf(v).IsFloat()) continue;
    Value contribution = built_.Result(call, next++);
    for (uint32_t c = 0; c < slots_.CountOf(v); ++c) Accumulate(v, Component(contribution, c), c);
  }
}

/// A call that works in place: the vjp gets the buffers as the kernel left them (clobber.cpp sees to it that
/// this is how the function left them) and their adjoints, which it turns from those of what the function
/// wrote into those of what it read.
void AdjointSweep::ReverseInPlace(Inst inst, const ir::Function& adjoint) {
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  for (Value v : primal_.Operands(inst)) {
    Type type = primal_.TypeOf(v);
    if (!type.IsBuffer() || !ir::IsFloat(type.scalar)) continue;
    Value companion = CompanionOf(v);
    if (!companion.Valid()) {
      Refuse(diag::E0441, inst,
             "the vjp of this call takes the adjoint of '%" + std::string(module_.Text(primal_[v].name)) +
                 "', which has none",
             "mark the parameter 'diff'");
      return;
    }
    operands.push_back(companion);
  }
  std::vector<Value> contributions = CallInPlace(inst, adjoint, std::move(operands));
  uint32_t next = 0;
  for (Value v : primal_.Operands(inst)) {
    Type type = primal_.TypeOf(v);
    if (!type.IsRegister() || !type.IsFloat()) continue;
    Value contribution = contributions[next++];
    for (uint32_t c = 0; c < slots_.CountOf(v); ++c) Accumulate(v, Component(contribution, c), c);
  }
}

/// The results of the vjp. One that reads saved copies of the buffers stands here with its body.
std::vector<Value> AdjointSweep::CallInPlace(Inst inst, const ir::Function& adjoint,
                                             std::vector<Value> operands) {
  std::vector<VjpReads::Read> copied;
  VjpReads reads(module_, primal_, inst);
  for (const VjpReads::Read& read : reads.Reads()) {
    Inst copy = plan_.FinalOf(inst, primal_.Operand(inst, read.param), read.component);
    if (!copy.Valid()) continue;
    copied.push_back(read);
    operands.push_back(At(primal_.Operand(copy, 0)));
  }
  std::vector<Value> results;
  if (copied.empty()) {
    Inst call = builder_.Create(Op::Call, operands, adjoint.result_types);
    built_[call].symbol = adjoint.name;
    for (uint32_t n = 0; n < adjoint.result_types.size(); ++n) results.push_back(built_.Result(call, n));
    return results;
  }
  std::unique_ptr<ir::Function> vjp = ReadingCopies(module_, adjoint, copied);
  ir::ValueMap map;
  for (uint32_t n = 0; n < operands.size(); ++n) map[vjp->Params()[n]] = operands[n];
  ir::Cloner cloner(*vjp, builder_, map);
  cloner.CloneBody(vjp->Body(), false, false);
  for (Value result : vjp->Operands(vjp->Terminator(vjp->Body()))) results.push_back(cloner.Map(result));
  return results;
}

}  // namespace adc::autodiff

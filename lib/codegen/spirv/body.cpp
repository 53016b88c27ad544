#include "codegen/spirv/body.h"

#include <algorithm>

#include "codegen/common/questions.h"
#include "codegen/spirv/body_turns.h"
#include "ir/words.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op, ir::OpClass, ir::Scalar;

BodyEmitter::BodyEmitter(const ir::Function& function, FunctionBuilder& builder, ScalarEmitter& scalars,
                         ValueTable& values, KernelParts* kernel)
    : BodyPart(*this, function, builder, scalars, values, kernel, own_states_, own_mode_),
      own_states_(function, builder, kernel),
      team_(*this) {
  if (kernel != nullptr && kernel->in_step.Any()) {
    in_step_.emplace(static_cast<const BodyPart&>(*this));
  } else {
    narrow_.emplace(function);
  }
}

void BodyEmitter::EmitBlock(ir::Block block) {
  const std::vector<ir::Inst>& insts = function_[block].insts;
  auto count = static_cast<uint32_t>(insts.size());
  if (count != 0 && ir::IsTerminator(function_[insts.back()].op)) --count;
  EmitRange(block, 0, count);
}

void BodyEmitter::EmitRange(ir::Block block, uint32_t first, uint32_t last) {
  if (mode_.active != 0) {
    in_step_->EmitRange(block, first, last);
  } else if (mode_.team != 0) {
    team_.EmitRange(block, first, last);
  } else {
    const std::vector<ir::Inst>& insts = function_[block].insts;
    for (uint32_t position = first; position < last; ++position) EmitInst(insts[position]);
  }
  SetPlace({});
}

bool BodyEmitter::IsTakenIn(ir::Inst product) const {
  return scalars_.mode() == FloatMode::Contract && product.Valid() && function_[product].op == Op::Mul &&
         function_[product].Has(ir::Word::Fuses);
}

bool BodyEmitter::EmitContracted(ir::Inst inst) {
  if (function_[inst].op != Op::Add && function_[inst].op != Op::Sub) return false;
  uint32_t side = IsTakenIn(function_.DefiningInst(function_.Operand(inst, 0))) ? 0 : 1;
  if (side == 1 && !IsTakenIn(function_.DefiningInst(function_.Operand(inst, 1)))) return false;
  Scalar scalar = function_.TypeOf(function_.Result(inst)).scalar;
  ir::Inst product = function_.DefiningInst(function_.Operand(inst, side));
  Id a = values_.Get(function_.Operand(product, 0)), b = values_.Get(function_.Operand(product, 1));
  Id other = values_.Get(function_.Operand(inst, 1 - side));
  if (function_[inst].op == Op::Sub) {
    Id& negated = side == 0 ? other : a;
    negated = scalars_.Emit(Op::Neg, scalar, scalar, {negated});
  }
  values_.Bind(function_.Result(inst), scalars_.Emit(Op::Fma, scalar, scalar, {a, b, other}));
  return true;
}

void BodyEmitter::EmitPure(ir::Inst inst) {
  if (IsTakenIn(inst) || EmitContracted(inst) || values_.WidensAtUse(inst)) return;
  if (narrow_ && narrow_->IsOfBounds(inst)) return;
  ir::Value result = function_.Result(inst);
  std::vector<Id> operands = values_.GetAll(function_.Operands(inst));
  bool of_word = narrow_ && narrow_->IsOfIndex(inst);
  Scalar scalar = of_word ? Scalar::U32 : OperandScalar(function_, inst);
  FloatMode mode = scalars_.mode();
  if (function_[inst].Has(ir::Word::AsWritten)) scalars_.SetMode(FloatMode::Strict);
  values_.Bind(result, scalars_.Emit(function_[inst].op, scalar, function_.TypeOf(result).scalar, operands));
  scalars_.SetMode(mode);
}

void BodyEmitter::SetPlace(diag::SourceSpan place) {
  if (kernel_ != nullptr && kernel_->places != nullptr) kernel_->places->Set(f_, place);
}

void BodyEmitter::EmitInst(ir::Inst inst) {
  SetPlace(function_[inst].span);
  const ir::InstData& data = function_[inst];
  switch (ir::ClassOf(data.op)) {
    case OpClass::Arithmetic:
    case OpClass::Function:
    case OpClass::Compare:
    case OpClass::Bits:
    case OpClass::Convert:
      EmitPure(inst);
      return;
    case OpClass::Control:
      if (data.op == Op::For) return EmitFor(inst);
      if (data.op == Op::While) return EmitWhile(inst);
      if (data.op == Op::If) return EmitIf(inst);
      break;
    case OpClass::Check:
      if (data.op != Op::Print) EmitKernelInst(inst);
      return;
    case OpClass::Vector:
      // Of a parameter; others are scalars by now.
      if (data.op != Op::VecGet && data.op != Op::MatGet) break;
      EmitKernelInst(inst);
      return;
    case OpClass::Shape:
    case OpClass::Access:
    case OpClass::Atomic:
    case OpClass::Local:
    case OpClass::Row:
      EmitKernelInst(inst);
      return;
    case OpClass::Composed:
    case OpClass::Random:
    case OpClass::Terminator:
    case OpClass::Stack:
      break;
  }
  ADC_UNREACHABLE("an operation that lowering removes reaches code generation");
}

void BodyEmitter::EmitKernelInst(ir::Inst inst) {
  ADC_CHECK(kernel_ != nullptr, "a function of scalars touches memory");
  if (states_.EmitChange(inst)) return;
  const ir::InstData& data = function_[inst];
  if (ir::IsAccess(data.op)) return kernel_->memory.EmitAccess(inst);
  if (data.op == Op::VecGet || data.op == Op::MatGet) return EmitParameterComponent(inst);
  if (data.op == Op::Alloca) return kernel_->memory.EmitAlloca(inst);
  if (data.op == Op::RowLoad || data.op == Op::RowStore) return kernel_->rows.EmitAccess(inst);
  if (data.op == Op::RowCapacity) return kernel_->rows.EmitCapacity(inst);
  if (data.op == Op::Shape) {
    Id extent = kernel_->environment.words.Extent(function_[function_.Operand(inst, 0)].number, data.attr);
    uint32_t width = ir::BitWidth(function_.TypeOf(function_.Result(inst)).scalar);
    values_.Bind(function_.Result(inst), f_.Resize(extent, kernel_->environment.entry.Wide(), width, false));
    return;
  }
  if (data.op == Op::RowClaim) return kernel_->rows.EmitClaim(inst);
  ADC_CHECK(data.op == Op::StatusRaise, "an operation that no part of a kernel emits");
  Id needed = data.operand_count != 0 ? values_.Index(function_.Operand(inst, 0), 64) : 0;
  kernel_->status.Raise(CodeOf(data), data.component, needed);
}

void BodyEmitter::EmitParameterComponent(ir::Inst inst) {
  uint32_t param = function_[function_.Operand(inst, 0)].number;
  values_.Bind(function_.Result(inst),
               kernel_->environment.words.ParameterComponent(param, ParameterComponentOf(function_, inst)));
}

std::vector<Id> BodyEmitter::Yielded(ir::Block block) {
  return values_.GetAll(function_.Operands(function_.Terminator(block)));
}

Id BodyEmitter::BoundOf(ir::Value bound, uint32_t width) {
  if (std::optional<int64_t> known = function_.IntegerConstant(bound))
    return f_.Int(width, static_cast<uint64_t>(*known));
  bool narrow = width < ir::BitWidth(function_.TypeOf(bound).scalar);
  return values_.Get(narrow ? WordOf(function_, bound) : bound);
}

Id BodyEmitter::TripsOf(ir::Inst loop) {
  uint32_t width = ir::BitWidth(function_.TypeOf(function_.Operand(loop, 0)).scalar);
  Id low = values_.Get(function_.Operand(loop, 0)), high = values_.Get(function_.Operand(loop, 1));
  auto step = static_cast<uint64_t>(*function_.IntegerConstant(function_.Operand(loop, 2)));
  Id count = f_.Sub(width, high, low), one = f_.Int(width, 1);
  if (step != 1) count = f_.Add(width, f_.Div(width, f_.Sub(width, count, one), f_.Int(width, step)), one);
  return f_.Choose(m_.types.Int(width), f_.Compare(spv::OpSLessThan, low, high), count, f_.Int(width, 0));
}

/// Counters never leave their type: a loop by ones ends at its bound, which is in range; one by larger steps
/// counts its trips.
///
///   by ones            i from lo, while i < hi          the index is i
///   by ones reversed   j from hi, while j > lo          the index is j - 1
///   by steps           k from 0, while k < trips        the index is lo + k * step
///   by steps reversed  k from trips, while k != 0       the index is lo + (k - 1) * step
void BodyEmitter::EmitFor(ir::Inst inst) {
  // Threads of a team are not in step, in the other form of the code.
  if (HeldTurns turns(*this, inst); mode_.active != 0 && turns.IsPossible()) {
    std::vector<Id> carried = turns.Emit(values_.GetAll(function_.Operands(inst).subspan(3)));
    for (uint32_t n = 0; n < carried.size(); ++n) values_.Bind(function_.Result(inst, n), carried[n]);
    return;
  }
  const ir::InstData& data = function_[inst];
  ir::Block body = data.regions[0];
  const std::vector<ir::Value>& params = function_[body].params;
  bool reversed = data.Has(ir::Word::Reversed);
  bool narrow = CountsInWords(inst);
  uint32_t width = narrow ? 32 : ir::BitWidth(function_.TypeOf(function_.Operand(inst, 0)).scalar);
  Id low = BoundOf(function_.Operand(inst, 0), width), high = BoundOf(function_.Operand(inst, 1), width);
  auto step = static_cast<uint64_t>(*function_.IntegerConstant(function_.Operand(inst, 2)));
  Id type = m_.types.Int(width), one = f_.Int(width, 1), zero = f_.Int(width, 0);
  Id trips = step != 1 ? TripsOf(inst) : 0;
  std::vector<Id> initial = values_.GetAll(function_.Operands(inst).subspan(3));
  Id start = step == 1 ? (reversed ? high : low) : (reversed ? trips : zero);
  Loop loop(f_);
  OpenPhi counter = loop.Phi(type, start);
  std::vector<OpenPhi> carried;
  for (uint32_t n = 0; n < data.result_count; ++n)
    carried.push_back(loop.Phi(TypeOf(params[n + 1]), initial[n]));
  std::vector<OpenPhi> open = states_.Open(inst, loop);
  spv::Op before = narrow ? spv::OpULessThan : spv::OpSLessThan;
  Id more = step == 1
                ? (reversed ? f_.Compare(before, low, counter.id) : f_.Compare(before, counter.id, high))
                : f_.Compare(spv::OpINotEqual, counter.id, reversed ? zero : trips);
  loop.EndHeader(more);
  Id at = reversed ? f_.Sub(width, counter.id, one) : counter.id;
  values_.Bind(params[0], step == 1 ? at : f_.Add(width, low, f_.Mul(width, at, f_.Int(width, step))));
  for (uint32_t n = 0; n < data.result_count; ++n) values_.Bind(params[n + 1], carried[n].id);
  HeldTurns* around = std::exchange(mode_.held, nullptr);
  EmitBlock(body);
  mode_.held = around;
  std::vector<Id> yielded = Yielded(body);
  loop.BeginNext();
  loop.Close(counter, reversed ? at : f_.Add(width, counter.id, one));
  for (uint32_t n = 0; n < data.result_count; ++n) loop.Close(carried[n], yielded[n]);
  states_.Close(inst, loop, open);
  loop.End();
  for (uint32_t n = 0; n < data.result_count; ++n) values_.Bind(function_.Result(inst, n), carried[n].id);
}

/// The test may hold control flow, so it stands in the loop's body, which it leaves where it fails. At the
/// bound the loop ends before its test, which may read what only exists for fewer iterations.
void BodyEmitter::EmitWhile(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  bool bounded = data.Has(ir::Word::HasMax);
  ir::Block test = data.regions[0], body = data.regions[1];
  const std::vector<ir::Value>& params = function_[test].params;
  uint32_t width = bounded ? ir::BitWidth(function_.TypeOf(function_.Operand(inst, 0)).scalar) : 32;
  Id limit = 0;
  if (bounded) {
    // Nothing sees the count but the loop: where its bound is known and small, it takes no wide integers.
    std::optional<int64_t> known = function_.IntegerConstant(function_.Operand(inst, 0));
    bool small = width == 64 && known && *known >= 0 && *known <= INT32_MAX;
    if (small) width = 32;
    limit = small ? f_.Int(32, static_cast<uint64_t>(*known)) : values_.Get(function_.Operand(inst, 0));
  }
  std::vector<Id> initial = values_.GetAll(function_.Operands(inst).subspan(bounded ? 1 : 0));
  Loop loop(f_);
  OpenPhi trips;
  if (bounded) trips = loop.Phi(m_.types.Int(width), f_.Int(width, 0));
  std::vector<OpenPhi> carried;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    carried.push_back(loop.Phi(TypeOf(params[n]), initial[n]));
    values_.Bind(params[n], carried[n].id);
  }
  std::vector<OpenPhi> open = states_.Open(inst, loop);
  loop.EndHeader(bounded ? f_.Compare(spv::OpSLessThan, trips.id, limit) : 0);
  EmitBlock(test);
  Id inside = m_.NewId(), tested_in = f_.Block();
  std::vector<Id>& now = states_.now();
  std::vector<Id> tested = now;
  f_.BranchIf(Yielded(test)[0], inside, loop.merge());
  f_.Start(inside);
  EmitBlock(body);
  std::vector<Id> yielded = Yielded(body);
  loop.BeginNext();
  for (uint32_t n = 0; n < data.result_count; ++n) loop.Close(carried[n], yielded[n]);
  if (bounded) loop.Close(trips, f_.Add(width, trips.id, f_.Int(width, 1)));
  states_.Close(inst, loop, open);
  loop.End();
  // The loop is left from its header at the bound, and from its test, which may have changed a state.
  for (uint32_t state : states_.Of(inst)) {
    if (tested[state] == now[state]) continue;
    now[state] = bounded ? f_.Phi(states_.TypeOf(state), now[state], loop.header(), tested[state], tested_in)
                         : tested[state];
  }
  for (uint32_t n = 0; n < data.result_count; ++n) values_.Bind(function_.Result(inst, n), carried[n].id);
}

void BodyEmitter::EmitIf(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  const std::vector<uint32_t>& changed = states_.Of(inst);
  Id condition = values_.Get(function_.Operand(inst, 0));
  struct Arm {
    Id end = 0;
    std::vector<Id> values, states;
  };
  Arm arms[2];
  std::vector<Id>& now = states_.now();
  std::vector<Id> before = now;
  arms[1] = {f_.Block(), {}, before};
  auto emit = [&](uint32_t side) {
    now = before;
    EmitBlock(data.regions[side]);
    if (data.result_count != 0) arms[side].values = Yielded(data.regions[side]);
    arms[side].end = f_.Block();
    arms[side].states = now;
  };
  if (HasElse(function_, inst)) {
    f_.Either(condition, [&] { emit(0); }, [&] { emit(1); });
  } else {
    f_.When(condition, [&] { emit(0); });
  }
  for (uint32_t n = 0; n < data.result_count; ++n) {
    ir::Value result = function_.Result(inst, n);
    values_.Bind(result,
                 f_.Phi(TypeOf(result), arms[0].values[n], arms[0].end, arms[1].values[n], arms[1].end));
  }
  now = before;
  for (uint32_t state : changed)
    now[state] =
        f_.Phi(states_.TypeOf(state), arms[0].states[state], arms[0].end, arms[1].states[state], arms[1].end);
}

}  // namespace adc::codegen::spirv

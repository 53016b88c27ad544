#include "frontend/cpp/writer.h"

#include <algorithm>

#include "analysis/walk.h"
#include "ir/cheap.h"
#include "ir/eval.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::frontend {

using ir::Block, ir::Inst, ir::Op, ir::Type, ir::Value;

// ---- Variables

Slot Writer::NewSlot(Type type, std::string_view name) {
  Value cell = Alloca(Type::Array(type, 1));
  if (!name.empty()) function_[cell].name = module_.Intern(name);
  slots_.push_back({type, cell, ++clock_, span_});
  known_.push_back(type.IsScalar() ? Zero(type) : Value());
  return static_cast<Slot>(slots_.size() - 1);
}

Value Writer::Get(Slot slot) {
  Value zero = I32(0);
  if (!known_[slot].Valid()) known_[slot] = Load(slots_[slot].cell, {&zero, 1});
  return known_[slot];
}

void Writer::Set(Slot slot, Value value) {
  SlotData& data = slots_[slot];
  ADC_CHECK(TypeOf(value) == data.type, "a slot has one type");
  Value zero = I32(0);
  Access(Op::Store, data.cell, {&zero, 1}, {&value, 1});
  known_[slot] = value;
  data.stored = ++clock_;
  data.last_store = span_;
}

void Writer::Name(Value value, std::string_view name) {
  ir::ValueData& data = function_[value];
  if (data.kind == ir::ValueKind::Result && !data.name.Valid()) data.name = module_.Intern(name);
}

void Writer::DropSlots(size_t count) {
  slots_.resize(count);
  known_.resize(count);
}

// ---- Operations

Value Writer::Make(Op op, std::span<const Value> operands) {
  std::vector<Type> types;
  std::vector<uint64_t> bits;
  for (Value v : operands) {
    types.push_back(TypeOf(v));
    if (function_.IsConstant(v)) bits.push_back(function_.ConstantOf(v).bits);
  }
  std::optional<Type> result = ir::ResultType(op, types);
  ADC_CHECK(result.has_value(), "operands of an operation do not fit its rule");
  if (bits.size() == operands.size() && result->IsScalar()) {
    std::optional<uint64_t> folded = ir::EvaluateScalar(op, types, *result, bits);
    if (folded) return Bits(*result, *folded);
  }
  return Builder::Make(op, operands);
}

Value Writer::Cast(Value value, Type to) {
  Type from = TypeOf(value);
  if (from == to) return value;
  if (function_.IsConstant(value)) {
    uint64_t bits = function_.ConstantOf(value).bits;
    std::optional<uint64_t> folded = ir::EvaluateScalar(Op::Cast, {&from, 1}, to, {&bits, 1});
    if (folded) return Bits(to, *folded);
  }
  return Builder::Cast(value, to);
}

Value Writer::Not(Value condition) {
  Inst inst = function_.DefiningInst(condition);
  if (inst.Valid() && function_[inst].op == Op::Not) return function_.Operand(inst, 0);
  return Make(Op::Not, {condition});
}

// ---- Branches

/// Writes both sides of a branch. Afterwards it is known what a slot holds where both agree.
std::pair<Writer::Region, Writer::Region> Writer::WriteSides(const std::function<void()>& then,
                                                             const std::function<void()>& otherwise) {
  Block parent = block_;
  diag::SourceSpan span = span_;
  size_t slots = slots_.size();
  auto write_side = [&](const std::function<void()>& write) {
    Region region;
    region.block = function_.NewBlock();
    SetBlock(region.block);
    reachable_ = true;
    ++branches_;
    write();
    --branches_;
    region.falls = reachable_;
    DropSlots(slots);
    region.known = known_;
    return region;
  };
  std::vector<Value> before = known_;
  Region yes = write_side(then);
  known_ = std::move(before);
  Region no = write_side(otherwise);
  SetBlock(parent);
  SetSpan(span);
  for (Slot slot = 0; slot < slots; ++slot)
    known_[slot] = yes.known[slot] == no.known[slot] ? yes.known[slot] : Value();
  return {std::move(yes), std::move(no)};
}

/// Appends the instructions of `block` to the current one.
void Writer::Splice(Block block) {
  std::vector<Inst> insts = std::move(function_[block].insts);
  function_[block].insts.clear();
  for (Inst inst : insts) function_.Append(block_, inst);
}

void Writer::If(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  if (function_.IsConstant(condition))
    return (function_.ConstantOf(condition).bits != 0 ? then : otherwise)();
  auto [yes, no] = WriteSides(then, otherwise);
  bool does_nothing = function_[yes.block].insts.empty() && !function_[no.block].insts.empty();
  if (yes.falls && (!no.falls || does_nothing)) {
    condition = Not(condition);
    std::swap(yes, no);
  }
  reachable_ = no.falls;
  if (!yes.falls) {
    // The content of the other branch follows, with the values that it knew.
    known_ = std::move(no.known);
    Block rest = std::exchange(no.block, function_.NewBlock());
    no.falls = true;
    Branch(condition, yes, no);
    return Splice(rest);
  }
  Branch(condition, yes, no);
}

Inst Writer::Branch(Value condition, const Region& then, const Region& otherwise) {
  Inst inst = Create(Op::If, {&condition, 1}, {});
  Block parent = block_;
  uint32_t number = 0;
  for (const Region& region : {then, otherwise}) {
    function_[inst].regions[number++] = region.block;
    function_[region.block].owner = inst;
    SetBlock(region.block);
    if (region.falls) Yield({});
  }
  SetBlock(parent);
  return inst;
}

Value Writer::Choose(Value condition, Type type, const std::function<Value()>& yes,
                     const std::function<Value()>& no) {
  if (function_.IsConstant(condition)) return function_.ConstantOf(condition).bits != 0 ? yes() : no();
  Block parent = block_;
  Value chosen[2];
  auto [then, otherwise] = WriteSides([&] { chosen[0] = yes(); }, [&] { chosen[1] = no(); });
  if (ir::IsCheap(function_, then.block) && ir::IsCheap(function_, otherwise.block)) {
    Splice(then.block);
    Splice(otherwise.block);
    if (chosen[0] == chosen[1]) return chosen[0];
    if (type != ir::kI1) return Make(Op::Select, {condition, chosen[0], chosen[1]});
    // `a && b` and `a || b`.
    auto is = [&](Value v, uint64_t bits) {
      return function_.IsConstant(v) && function_.ConstantOf(v).bits == bits;
    };
    if (is(chosen[1], 0)) return is(chosen[0], 1) ? condition : Make(Op::And, {condition, chosen[0]});
    if (is(chosen[0], 1)) return Make(Op::Or, {condition, chosen[1]});
    if (is(chosen[0], 0) && is(chosen[1], 1)) return Not(condition);
    return Make(Op::Select, {condition, chosen[0], chosen[1]});
  }
  Slot slot = NewSlot(type, {});
  SetBlock(then.block);
  Set(slot, chosen[0]);
  SetBlock(otherwise.block);
  Set(slot, chosen[1]);
  SetBlock(parent);
  known_[slot] = Value();
  Branch(condition, then, otherwise);
  return Get(slot);
}

// ---- Scopes

size_t Writer::OpenScope() {
  Scope& scope = scopes_.emplace_back();
  scope.parent = block_;
  scope.first = function_[scope.parent].insts.size();
  scope.values = function_.ValueCount();
  scope.opened = clock_;
  scope.span = span_;
  return scopes_.size() - 1;
}

bool Writer::MayHaveLeft(size_t first) const {
  return std::any_of(scopes_.begin() + static_cast<ptrdiff_t>(first), scopes_.end(),
                     [](const Scope& scope) { return !scope.exits.empty(); });
}

void Writer::Jump(Op op, std::span<const Value> operands) {
  reachable_ = false;
  Terminate(op, operands);
}

void Writer::Leave(size_t number) {
  Scope& scope = scopes_[number];
  if (number + 1 == scopes_.size() && block_ == scope.parent) {
    scope.ends = true;
    reachable_ = false;
    return;
  }
  if (scope.exits.empty()) {
    scope.body = function_.NewBlock();
    function_.AddParam(scope.body, ir::kLabel);
  }
  Jump(Op::Exit, {&function_[scope.body].params[0], 1});
  scope.exits.push_back(function_[block_].insts.back());
}

void Writer::CloseScope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  bool ends = reachable_ || scope.ends;
  reachable_ = ends || !scope.exits.empty();
  if (scope.exits.empty()) return;
  // Values that were computed inside are not seen any more.
  for (Slot slot = 0; slot < slots_.size(); ++slot) {
    Value known = known_[slot];
    bool before = known.Valid() && (function_.IsConstant(known) || known.raw < scope.values);
    if (!before || slots_[slot].stored > scope.opened) known_[slot] = Value();
  }
  std::vector<Inst> leaving;
  for (Inst inst : scope.exits) {
    while (function_[inst].parent != scope.parent) inst = function_.OwnerOf(inst);
    leaving.push_back(inst);
  }
  std::vector<Inst>& parent = function_[scope.parent].insts;
  auto first = std::find_first_of(parent.begin() + static_cast<ptrdiff_t>(scope.first), parent.end(),
                                  leaving.begin(), leaving.end());
  std::vector<Inst> inside(first, parent.end());
  parent.erase(first, parent.end());
  if (inside[0] == scope.exits[0]) return;  // at the end alone
  for (Inst inst : inside) function_.Append(scope.body, inst);
  for (Inst exit : scope.exits) {
    if (function_[exit].parent != scope.body) continue;
    function_[exit].op = Op::Yield;
    function_.SetOperands(exit, {});
  }
  SetSpan(scope.span);
  Inst inst = Create(Op::Scope, {}, {});
  function_[inst].regions[0] = scope.body;
  function_[scope.body].owner = inst;
  SetBlock(scope.body);
  if (ends) Yield({});
  SetBlock(scope.parent);
}

// ---- Loops

void Writer::Enter(Inst loop, bool repeats) {
  loops_.push_back({loop, block_, clock_, known_});
  if (repeats) std::fill(known_.begin(), known_.end(), Value());
  SetBlock(function_[loop].regions[0]);
}

Value Writer::OpenFor(Value lo, Value hi, Value step, ir::Words words) {
  Inst loop = For(lo, hi, step, {}, words);
  Enter(loop, true);
  return function_[function_[loop].regions[0]].params[0];
}

void Writer::OpenWhile() {
  Enter(While({}, {}), true);
}

std::vector<Value> Writer::OpenParallel(std::span<const Value> bounds) {
  Inst loop = Parallel(bounds, 0);
  Enter(loop, false);
  return function_[function_[loop].regions[0]].params;
}

bool Writer::DoesSomething(const Loop& loop, Block test) const {
  bool found = false;
  analysis::ForEachInst(function_, test, [&](Inst inst) {
    const ir::InstData& data = function_[inst];
    Inst cell = data.op == Op::Store ? function_.DefiningInst(function_.Operand(inst, 0)) : Inst();
    bool own = cell.Valid() && cell.raw > loop.inst.raw;
    found = found || (data.op == Op::Store && !own) || data.op == Op::Call || data.op == Op::Print ||
            data.op == Op::Assert || ir::IsAtomic(data.op);
  });
  return found;
}

void Writer::Test(Value condition, bool inside) {
  Loop& loop = loops_.back();
  auto [test, body] = function_[loop.inst].regions;
  if (!inside && !DoesSomething(loop, test)) {
    Terminate(Op::ContinueIf, {&condition, 1});
    return SetBlock(body);
  }
  SetBlock(body);
  Splice(test);
  SetBlock(test);
  Value always = Int(ir::kI1, 1);
  Terminate(Op::ContinueIf, {&always, 1});
  SetBlock(body);
  If(condition, [] {}, [&] { Break(); });
}

Inst Writer::Close() {
  if (reachable_) Yield({});
  Loop loop = std::move(loops_.back());
  loops_.pop_back();
  SetBlock(loop.parent);
  SetSpan(function_[loop.inst].span);
  reachable_ = true;
  escaped_.clear();
  DropSlots(loop.known.size());
  known_ = std::move(loop.known);
  for (Slot slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].stored <= loop.opened) continue;
    escaped_.push_back(slot);
    known_[slot] = Value();
  }
  return loop.inst;
}

}  // namespace adc::frontend

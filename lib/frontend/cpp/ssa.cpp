#include "frontend/cpp/ssa.h"

#include <algorithm>
#include <set>

#include "frontend/cpp/tidy.h"
#include "ir/cheap.h"
#include "ir/eval.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::frontend {

using ir::Block;
using ir::Inst;
using ir::Op;
using ir::Type;
using ir::Value;

Ssa::Ssa(ir::Module& module, ir::Function& function)
    : module_(module), function_(function), builder_(module, function, function.Body()) {}

Slot Ssa::NewSlot(Type type, std::string_view name) {
  slots_.resize(env_.size());  // of regions that have ended
  slots_.push_back({type, name.empty() ? StringId() : module_.Intern(name), builder_.span()});
  env_.push_back({});
  return static_cast<Slot>(env_.size() - 1);
}

Value Ssa::Zero(Type type) {
  if (type.IsScalar()) return builder_.Zero(type);
  std::vector<Value> zeros(type.Components(), builder_.Zero(type.ScalarType()));
  return function_.Result(builder_.Create(type.IsVec() ? Op::VecMake : Op::MatMake, zeros, {&type, 1}));
}

Value Ssa::Get(Slot slot) {
  if (!env_[slot].Valid()) {
    Value zero = Zero(slots_[slot].type);
    if (function_.IsConstant(zero)) return zero;
    env_[slot] = zero;
  }
  return env_[slot] = Resolve(env_[slot]);
}

void Ssa::Set(Slot slot, Value value) {
  ADC_CHECK(TypeOf(value) == slots_[slot].type, "a slot has one type");
  env_[slot] = value;
  slots_[slot].last_store = builder_.span();
  if (slots_[slot].name.Valid()) Name(value, module_.Text(slots_[slot].name));
}

void Ssa::Name(Value value, std::string_view name) {
  ir::ValueData& data = function_[value];
  if (data.kind == ir::ValueKind::Result && !data.name.Valid()) data.name = module_.Intern(name);
}

Value Ssa::Make(Op op, std::initializer_list<Value> operands) {
  std::vector<Value> resolved;
  std::vector<Type> types;
  std::vector<uint64_t> bits;
  for (Value v : operands) {
    resolved.push_back(Resolve(v));
    types.push_back(TypeOf(v));
    if (function_.IsConstant(resolved.back())) bits.push_back(function_.ConstantOf(resolved.back()).bits);
  }
  std::optional<Type> result = ir::ResultType(op, types);
  ADC_CHECK(result.has_value(), "operands of an operation do not fit its rule");
  if (bits.size() == resolved.size() && result->IsScalar()) {
    std::optional<uint64_t> folded = ir::EvaluateScalar(op, types, *result, bits);
    if (folded) return builder_.Bits(*result, *folded);
  }
  return builder_.Make(op, resolved);
}

Value Ssa::Cast(Value value, Type to) {
  value = Resolve(value);
  Type from = TypeOf(value);
  if (from == to) return value;
  if (function_.IsConstant(value)) {
    uint64_t bits = function_.ConstantOf(value).bits;
    std::optional<uint64_t> folded = ir::EvaluateScalar(Op::Cast, {&from, 1}, to, {&bits, 1});
    if (folded) return builder_.Bits(to, *folded);
  }
  return builder_.Cast(value, to);
}

Value Ssa::Not(Value condition) {
  condition = Resolve(condition);
  Inst inst = function_.DefiningInst(condition);
  if (inst.Valid() && function_[inst].op == Op::Not) return Resolve(function_.Operand(inst, 0));
  return Make(Op::Not, {condition});
}

Value Ssa::Select(Value condition, Value yes, Value no) {
  condition = Resolve(condition), yes = Resolve(yes), no = Resolve(no);
  if (yes == no) return yes;
  if (function_.IsConstant(condition)) return function_.ConstantOf(condition).bits != 0 ? yes : no;
  if (TypeOf(yes) == ir::kI1 && function_.IsConstant(yes) && function_.IsConstant(no))
    return function_.ConstantOf(yes).bits != 0 ? condition : Not(condition);
  if (TypeOf(yes) == ir::kI1 && function_.IsConstant(no) && function_.ConstantOf(no).bits == 0)
    return Make(Op::And, {condition, yes});
  if (TypeOf(yes) == ir::kI1 && function_.IsConstant(yes) && function_.ConstantOf(yes).bits == 1)
    return Make(Op::Or, {condition, no});
  return Make(Op::Select, {condition, yes, no});
}

Value Ssa::Resolve(Value v) {
  if (!v.Valid()) return v;
  auto found = replaced_.find(v);
  if (found == replaced_.end()) return v;
  Value last = found->second;
  for (auto next = replaced_.find(last); next != replaced_.end(); next = replaced_.find(last))
    last = next->second;
  replaced_[v] = last;
  return last;
}

// ---- Branches

Ssa::Region Ssa::Build(const std::function<void()>& build) {
  Region region;
  size_t slots = env_.size();
  region.block = function_.NewBlock();
  builder_.SetBlock(region.block);
  reachable_ = true;
  branches_.push_back(slots);
  build();
  branches_.pop_back();
  region.falls = reachable_;
  env_.resize(slots);
  region.env = env_;
  return region;
}

void Ssa::Attach(Block block, Inst owner, uint32_t number) {
  function_[owner].regions[number] = block;
  function_[block].owner = owner;
}

/// Appends the instructions of `block` to the current one.
void Ssa::Splice(Block block) {
  std::vector<Inst> insts = std::move(function_[block].insts);
  function_[block].insts.clear();
  for (Inst inst : insts) function_.Append(builder_.block(), inst);
}

void Ssa::If(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  condition = Resolve(condition);
  if (function_.IsConstant(condition))
    return (function_.ConstantOf(condition).bits != 0 ? then : otherwise)();
  Block parent = builder_.block();
  diag::SourceSpan span = builder_.span();
  std::vector<Value> before = env_;
  Region yes = Build(then);
  env_ = before;
  Region no = Build(otherwise);
  builder_.SetBlock(parent);
  builder_.SetSpan(span);
  Join(condition, std::move(yes), std::move(no));
}

void Ssa::Join(Value condition, Region then, Region otherwise) {
  bool does_nothing = function_[then.block].insts.empty() && !function_[otherwise.block].insts.empty() &&
                      !ir::IsCheap(function_, otherwise.block);
  if (then.falls && (!otherwise.falls || does_nothing)) {
    condition = Not(condition);
    std::swap(then, otherwise);
  }
  Block parent = builder_.block();
  auto close = [&](Inst inst, uint32_t number, Block block, std::span<const Value> values) {
    Attach(block, inst, number);
    builder_.SetBlock(block);
    builder_.Yield(values);
    builder_.SetBlock(parent);
  };
  reachable_ = otherwise.falls;
  env_ = std::move(otherwise.env);
  if (!then.falls) {
    Inst inst = builder_.Create(Op::If, {&condition, 1}, {});
    Attach(then.block, inst, 0);
    close(inst, 1, function_.NewBlock(), {});
    return Splice(otherwise.block);
  }
  std::vector<Slot> results;
  std::vector<Value> yes, no;
  std::vector<Type> types;
  for (Slot slot = 0; slot < env_.size(); ++slot) {
    Value a = Resolve(then.env[slot]), b = Resolve(env_[slot]);
    env_[slot] = a;  // also where both branches assign one value
    if (a == b) continue;
    types.push_back(slots_[slot].type);
    results.push_back(slot);
    yes.push_back(a.Valid() ? a : Zero(types.back()));
    no.push_back(b.Valid() ? b : Zero(types.back()));
  }
  if (ir::IsCheap(function_, then.block) && ir::IsCheap(function_, otherwise.block)) {
    Splice(then.block);
    Splice(otherwise.block);
    for (size_t n = 0; n < results.size(); ++n) {
      Value chosen = env_[results[n]] = Select(condition, yes[n], no[n]);
      if (slots_[results[n]].name.Valid()) Name(chosen, module_.Text(slots_[results[n]].name));
    }
    return;
  }
  Inst inst = builder_.Create(Op::If, {&condition, 1}, types);
  close(inst, 0, then.block, yes);
  close(inst, 1, otherwise.block, no);
  Take(inst, results);
}

/// The results of the instruction are the values of the slots.
void Ssa::Take(Inst inst, std::span<const Slot> slots) {
  for (size_t n = 0; n < slots.size(); ++n) {
    Value result = env_[slots[n]] = function_.Result(inst, static_cast<uint32_t>(n));
    if (slots_[slots[n]].name.Valid()) Name(result, module_.Text(slots_[slots[n]].name));
  }
}

Value Ssa::Choose(Value condition, Type type, const std::function<Value()>& yes,
                  const std::function<Value()>& no) {
  Slot slot = NewSlot(type, {});
  If(condition, [&] { Set(slot, yes()); }, [&] { Set(slot, no()); });
  return Get(slot);
}

// ---- Scopes

size_t Ssa::OpenScope() {
  Scope& scope = scopes_.emplace_back();
  scope.parent = builder_.block();
  scope.first = function_[scope.parent].insts.size();
  scope.values = function_.ValueCount();
  scope.branches = branches_.size();
  scope.loops = loops_.size();
  scope.span = builder_.span();
  return scopes_.size() - 1;
}

bool Ssa::MayHaveLeft(size_t first) const {
  return std::any_of(scopes_.begin() + static_cast<ptrdiff_t>(first), scopes_.end(),
                     [](const Scope& scope) { return !scope.exits.empty(); });
}

void Ssa::Leave(size_t number) {
  Scope& scope = scopes_[number];
  if (number + 1 == scopes_.size() && builder_.block() == scope.parent) {
    scope.ends = true;
    reachable_ = false;
    return;
  }
  if (scope.exits.empty()) {
    scope.slots = env_.size();
    if (scope.branches < branches_.size()) scope.slots = branches_[scope.branches];
    if (scope.loops < loops_.size()) scope.slots = std::min(scope.slots, loops_[scope.loops].entry.size());
    for (size_t n = number + 1; n < scopes_.size(); ++n) {
      if (!scopes_[n].exits.empty()) scope.slots = std::min(scope.slots, scopes_[n].slots);
    }
    scope.body = function_.NewBlock();
    function_.AddParam(scope.body, ir::kLabel);
  }
  scope.exits.push_back(ExitWith(Op::Exit, {&function_[scope.body].params[0], 1}, scope.slots));
}

void Ssa::CloseScope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  reachable_ = reachable_ || scope.ends;
  if (scope.exits.empty()) return;
  if (reachable_) scope.exits.push_back(ExitWith(Op::Yield, {}, scope.slots));
  reachable_ = true;
  // It begins with the first instruction from whose inside it is left.
  std::set<Inst> leaving;
  for (const Exit& exit : scope.exits) {
    Inst inst = exit.terminator;
    while (function_[inst].parent != scope.parent) inst = function_.OwnerOf(inst);
    leaving.insert(inst);
  }
  std::vector<Inst>& parent = function_[scope.parent].insts;
  auto first = std::find_if(parent.begin() + static_cast<ptrdiff_t>(scope.first), parent.end(),
                            [&](Inst inst) { return leaving.contains(inst); });
  std::vector<Inst> inside(first, parent.end());
  parent.erase(first, parent.end());
  env_ = scope.exits[0].env;
  if (inside[0] == scope.exits[0].terminator) return;  // at the end alone
  for (Inst inst : inside) function_.Append(scope.body, inst);
  builder_.SetSpan(scope.span);
  std::vector<Slot> results;
  std::vector<Type> types;
  std::vector<std::vector<Value>> values(scope.exits.size());
  for (Slot slot = 0; slot < scope.slots; ++slot) {
    Value v = env_[slot] = Resolve(env_[slot]);
    Inst made = v.Valid() ? function_.DefiningInst(v) : Inst();
    bool before = !v.Valid() || function_.IsConstant(v) || v.raw < scope.values ||
                  (made.Valid() && function_[made].parent == scope.parent);
    if (before && std::all_of(scope.exits.begin(), scope.exits.end(),
                              [&](const Exit& exit) { return Resolve(exit.env[slot]) == v; }))
      continue;
    results.push_back(slot);
    types.push_back(slots_[slot].type);
    for (size_t n = 0; n < values.size(); ++n) {
      Value given = Resolve(scope.exits[n].env[slot]);
      values[n].push_back(given.Valid() ? given : Zero(types.back()));
    }
  }
  for (size_t n = 0; n < values.size(); ++n) {
    Inst end = scope.exits[n].terminator;
    if (function_[end].parent == scope.body) {
      function_[end].op = Op::Yield;
    } else {
      values[n].insert(values[n].begin(), function_[scope.body].params[0]);
    }
    function_.SetOperands(end, values[n]);
  }
  Inst inst = builder_.Create(Op::Scope, {}, types);
  Attach(scope.body, inst, 0);
  Take(inst, results);
}

// ---- Loops

Ssa::Loop& Ssa::OpenLoop(Op op) {
  Loop loop;
  loop.op = op;
  loop.parent = builder_.block();
  loop.parent_size = function_[loop.parent].insts.size();
  loop.first_inst = function_.InstCount();
  loop.entry = env_;
  loop.span = builder_.span();
  loops_.push_back(std::move(loop));
  return loops_.back();
}

void Ssa::AddParams(Loop& loop, Block block) {
  for (Slot slot = 0; slot < loop.entry.size(); ++slot) {
    env_[slot] = function_.AddParam(block, slots_[slot].type, slots_[slot].name);
    loop.params.push_back(env_[slot]);
  }
}

Value Ssa::OpenFor(Value lo, Value hi, Value step, ir::Words words) {
  Loop& loop = OpenLoop(Op::For);
  loop.bounds = {lo, hi, step};
  loop.words = words;
  loop.body = function_.NewBlock();
  Value index = function_.AddParam(loop.body, TypeOf(lo));
  loop.indices = {index};
  AddParams(loop, loop.body);
  builder_.SetBlock(loop.body);
  return index;
}

void Ssa::OpenWhile() {
  Loop& loop = OpenLoop(Op::While);
  loop.test = function_.NewBlock();
  AddParams(loop, loop.test);
  builder_.SetBlock(loop.test);
}

bool Ssa::Test(Value condition) {
  Loop& loop = loops_.back();
  condition = Resolve(condition);
  env_.resize(loop.params.size());
  for (Slot slot = 0; slot < loop.params.size(); ++slot) {
    if (Resolve(env_[slot]) != Resolve(loop.params[slot])) return false;
  }
  builder_.Terminate(Op::ContinueIf, {&condition, 1});
  loop.body = function_.NewBlock();
  builder_.SetBlock(loop.body);
  return true;
}

std::vector<Value> Ssa::OpenParallel(std::span<const Value> bounds) {
  Loop& loop = OpenLoop(Op::Parallel);
  loop.bounds.assign(bounds.begin(), bounds.end());
  loop.body = function_.NewBlock();
  for (size_t axis = 0; axis + 1 < bounds.size(); axis += 2)
    loop.indices.push_back(function_.AddParam(loop.body, TypeOf(bounds[axis])));
  builder_.SetBlock(loop.body);
  return loop.indices;
}

Ssa::Exit Ssa::ExitWith(Op op, std::span<const Value> operands, size_t slots) {
  reachable_ = false;
  return {builder_.Terminate(op, operands), {env_.begin(), env_.begin() + static_cast<ptrdiff_t>(slots)}};
}

void Ssa::Exits(Op op) {
  loops_.back().exits.push_back(ExitWith(op, {}, loops_.back().entry.size()));
}

void Ssa::Break() {
  Exits(Op::Break);
}

void Ssa::Continue() {
  Exits(Op::Continue);
}

void Ssa::RemoveUnchanged(Loop& loop, std::vector<Slot>* carried) {
  std::vector<unsigned char> removed(loop.params.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (Slot slot = 0; slot < loop.params.size(); ++slot) {
      if (removed[slot]) continue;
      Value before = Resolve(loop.entry[slot]);
      bool same = std::all_of(loop.exits.begin(), loop.exits.end(), [&](const Exit& exit) {
        Value v = Resolve(exit.env[slot]);
        return v == loop.params[slot] || (before.Valid() && v == before);
      });
      if (!same) continue;
      if (before.Valid()) {
        replaced_[loop.params[slot]] = before;
      } else if (slots_[slot].type.IsScalar()) {
        replaced_[loop.params[slot]] = builder_.Zero(slots_[slot].type);
      } else {
        continue;  // read by nobody, and dropped at the end
      }
      removed[slot] = 1;
      changed = true;
    }
  }
  for (Slot slot = 0; slot < loop.params.size(); ++slot) {
    if (!removed[slot]) carried->push_back(slot);
  }
}

Inst Ssa::Close() {
  if (reachable_) Exits(Op::Yield);
  Loop loop = std::move(loops_.back());
  loops_.pop_back();
  builder_.SetBlock(loop.parent);
  builder_.SetSpan(loop.span);
  reachable_ = true;
  if (loop.op == Op::Parallel) {
    Inst inst = builder_.Create(Op::Parallel, loop.bounds, {});
    function_[inst].attr = 0;
    Attach(loop.body, inst, 0);
    escaped_.clear();
    for (Slot slot = 0; slot < loop.entry.size(); ++slot) {
      bool same = std::all_of(loop.exits.begin(), loop.exits.end(), [&](const Exit& exit) {
        return Resolve(exit.env[slot]) == Resolve(loop.entry[slot]);
      });
      if (!same) escaped_.push_back(slot);
    }
    env_ = std::move(loop.entry);
    return inst;
  }
  std::vector<Slot> carried;
  RemoveUnchanged(loop, &carried);
  env_ = loop.entry;
  std::vector<Value> operands = loop.bounds;
  std::vector<Type> types;
  for (Slot slot : carried) {
    operands.push_back(Get(slot));
    types.push_back(slots_[slot].type);
  }
  Inst inst = builder_.Create(loop.op, operands, types);
  function_[inst].words = loop.words;
  Block head = loop.op == Op::While ? loop.test : loop.body;
  std::vector<Value> params = loop.indices;
  for (Slot slot : carried) params.push_back(loop.params[slot]);
  for (size_t n = 0; n < params.size(); ++n) function_[params[n]].number = static_cast<uint32_t>(n);
  function_[head].params = std::move(params);
  if (loop.op == Op::While) {
    Attach(loop.test, inst, 0);
    Attach(loop.body, inst, 1);
  } else {
    Attach(loop.body, inst, 0);
  }
  for (Exit& exit : loop.exits) {
    std::vector<Value> values;
    for (Slot slot : carried) {
      Value v = Resolve(exit.env[slot]);
      values.push_back(v.Valid() ? v : loop.params[slot]);
    }
    function_.SetOperands(exit.terminator, values);
  }
  Take(inst, carried);
  return inst;
}

void Ssa::Abandon() {
  Loop loop = std::move(loops_.back());
  loops_.pop_back();
  function_[loop.parent].insts.resize(loop.parent_size);
  for (Scope& around : scopes_)
    std::erase_if(around.exits, [&](const Exit& exit) { return exit.terminator.raw >= loop.first_inst; });
  builder_.SetBlock(loop.parent);
  builder_.SetSpan(loop.span);
  env_ = std::move(loop.entry);
  reachable_ = true;
}

namespace {

void VisitBlocks(const ir::Function& function, std::vector<Block> pending,
                 const std::function<void(Inst)>& visit) {
  while (!pending.empty()) {
    Block block = pending.back();
    pending.pop_back();
    for (Inst inst : function[block].insts) {
      visit(inst);
      for (Block region : function[inst].regions) {
        if (region.Valid()) pending.push_back(region);
      }
    }
  }
}

}  // namespace

void Ssa::VisitInnermost(const std::function<void(Inst)>& visit) const {
  const Loop& loop = loops_.back();
  std::vector<Block> blocks;
  if (loop.test.Valid()) blocks.push_back(loop.test);
  if (loop.body.Valid()) blocks.push_back(loop.body);
  VisitBlocks(function_, std::move(blocks), visit);
}

void Ssa::VisitInside(Inst inst, const std::function<void(Inst)>& visit) const {
  std::vector<Block> blocks;
  for (Block region : function_[inst].regions) {
    if (region.Valid()) blocks.push_back(region);
  }
  VisitBlocks(function_, std::move(blocks), visit);
}

std::unique_ptr<ir::Function> Ssa::Finish() {
  for (uint32_t n = 0; n < function_.InstCount(); ++n) {
    Inst inst(n);
    for (uint32_t at = 0; at < function_[inst].operand_count; ++at)
      function_.SetOperand(inst, at, Resolve(function_.Operand(inst, at)));
  }
  return Tidy(module_, function_);
}

}  // namespace adc::frontend

// Control flow of SPIR-V to regions of the IR.
//
// Blocks are followed from the first on. A selection names the block where its arms meet, a loop the blocks
// where it ends and where its next iteration begins; between these, branches may only leave for the meeting
// block of a construct around. So a region of the IR is emitted from a block on until `end` is reached, the
// block where the region's own construct meets (loops: loops.cpp):
//
//   %m: OpSelectionMerge %e                if %c {
//       OpBranchConditional %c %t %f         blocks from %t to %e
//                                    =>    } else {
//                                            blocks from %f to %e
//                                          }
//                                          blocks from %e on
//
// Leaving a loop or its iteration is the IR's `break` and `continue`. What the IR has no word for (the end of
// a `switch` from inside an `if`, a `return` of an inlined function, a `continue` behind which something is
// still to do) sets a flag, a local i1; what is left of the regions around then stands behind `if not flag`.
// Where only one arm of an `if` comes to its end and the other leaves by a flag, what follows goes into that
// arm and asks nothing.
//
// Phis are local variables: each edge stores, the block loads. So is a value that is used where the region
// that computes it is not seen: the first attempt finds these, the next one stores them.

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

using ir::Op;

namespace {
constexpr uint32_t kDeepestCall = 64;
}  // namespace

const Block& Lowering::BlockAt(Id label) const {
  const Function& function = *frames_.back()->function;
  auto found = function.block_of.find(label);
  if (found == function.block_of.end())
    Refuse(diag::E0857, b_->span(), "a branch leads to a block that its function does not have");
  return function.blocks[found->second];
}

void Lowering::Close(ir::Block region) {
  if (kernel_->Terminator(region).Valid()) return;
  ir::Block back = b_->block();
  b_->SetBlock(region);
  b_->Yield({});
  b_->SetBlock(back);
}

// Yields are new instructions, and those move what the kernel has: the blocks are taken out first.
void Lowering::CloseArms(ir::Inst branch) {
  const ir::InstData& data = (*kernel_)[branch];
  ir::Block first = data.regions[0], second = data.regions[1];
  Close(first);
  Close(second);
}

uint32_t Lowering::NewFlag(ir::Value* flag) {
  uint32_t number = next_flag_++;
  *flag = Slot(ir::kI1);
  flags_[number] = *flag;
  return number;
}

ir::Value Lowering::AnyFlag(const std::set<uint32_t>& pending) {
  ir::Value any;
  for (uint32_t number : pending) {
    ir::Value flag = LoadSlot(flags_[number]);
    any = any.Valid() ? b_->Make(Op::Or, {any, flag}) : flag;
  }
  return any;
}

ir::Value Lowering::SlotOfPhi(const Instruction& phi, uint32_t part) {
  std::vector<ir::Value>& slots = frame().stored[phi.result];
  if (slots.empty()) {
    std::vector<ir::Type> leaves;
    types_.Leaves(phi.type, leaves);
    for (ir::Type leaf : leaves) slots.push_back(Slot(leaf));
  }
  return slots[part];
}

/// The phis of `to` take what they take from `from`.
void Lowering::StoreEdge(Id from, Id to) {
  if (from == 0) return;
  const Block& block = BlockAt(to);
  std::vector<std::pair<ir::Value, ir::Value>> stores;
  for (const Instruction* phi : block.phis) {
    if (frame().skipped.count(phi) != 0) continue;
    for (size_t n = 0; n + 1 < phi->operands.size(); n += 2) {
      if (phi->At(n + 1) != from) continue;
      Value value = Get(phi->At(n));
      for (uint32_t part = 0; part < value.parts.size(); ++part)
        stores.emplace_back(SlotOfPhi(*phi, part), value.parts[part]);
      break;
    }
  }
  for (const auto& [slot, value] : stores) StoreSlot(slot, value);
}

void Lowering::EmitBlock(const Block& block) {
  if (!frame().emitted.insert(block.label).second)
    Refuse(diag::E0857, block.terminator != nullptr ? block.terminator->span : b_->span(),
           "a block is reached in two ways that do not nest", "compile the shader without jump threading");
  if (block.terminator == nullptr) Refuse(diag::E0852, b_->span(), "a block does not end");
  for (const Instruction* phi : block.phis) {
    if (frame().skipped.count(phi) != 0) continue;
    Spend(1, *phi);
    if (types_.KindOf(phi->type) == spv::OpTypePointer)
      Refuse(diag::E0854, phi->span, "a pointer that is chosen at run time",
             "index one buffer, or branch on what chooses");
    SlotOfPhi(*phi, 0);
    Value value;
    for (ir::Value slot : frame().stored[phi->result]) value.parts.push_back(LoadSlot(slot));
    Set(*phi, std::move(value));
  }
  for (const Instruction* inst : block.body) Emit(*inst);
  b_->SetSpan(block.terminator->span);
}

bool Lowering::IsExit(Id target, Id end) const {
  if (target == end) return true;
  const std::vector<Scope>& scopes = frames_.back()->scopes;
  for (size_t n = scopes.size(); n-- > 0;) {
    if (scopes[n].kind == Scope::Kind::Function) return false;
    if (target == scopes[n].merge) return true;
    if (scopes[n].kind == Scope::Kind::Loop) return target == scopes[n].next;
  }
  return false;
}

/// Takes the way out that `target` is; nothing where it is none.
std::optional<Lowering::Flow> Lowering::Leave(Id from, Id target) {
  std::vector<Scope>& scopes = frame().scopes;
  for (size_t n = scopes.size(); n-- > 0;) {
    Scope& scope = scopes[n];
    switch (scope.kind) {
      case Scope::Kind::Function:
        return std::nullopt;
      case Scope::Kind::Switch:
        if (target != scope.merge) break;
        StoreEdge(from, target);
        StoreSlot(scope.flag, b_->Int(ir::kI1, 1));
        return Flow{false, {scope.number}};
      case Scope::Kind::Loop:
        if (target == scope.merge) {
          StoreEdge(from, target);
          b_->Terminate(Op::Break, {});
          return Flow{};
        }
        if (target != scope.next) return std::nullopt;
        StoreEdge(from, target);
        if (scope.plain_continue) {
          b_->Terminate(Op::Continue, {});
          return Flow{};
        }
        StoreSlot(scope.next_flag, b_->Int(ir::kI1, 1));
        return Flow{false, {scope.next_number}};
    }
  }
  return std::nullopt;
}

Lowering::Flow Lowering::Return(const Instruction* value) {
  Frame& f = frame();
  Scope& function = f.scopes.front();
  if (value != nullptr && value->op == spv::OpReturnValue) {
    Value result = Get(value->At(0));
    for (size_t n = 0; n < result.parts.size(); ++n) {
      if (function.results.size() <= n) function.results.push_back(Slot(kernel_->TypeOf(result.parts[n])));
      StoreSlot(function.results[n], result.parts[n]);
    }
  }
  bool kernel = frames_.size() == 1;
  if (f.loops == 0) {
    if (kernel) {
      // At the end of the kernel there is nothing left to pass over.
      if (b_->block() != home_) b_->Terminate(Op::Continue, {});
      return Flow{};
    }
    StoreSlot(function.flag, b_->Int(ir::kI1, 1));
    return Flow{false, {function.number}};
  }
  StoreSlot(function.flag, b_->Int(ir::kI1, 1));
  for (size_t n = f.scopes.size(); n-- > 0;) {
    if (f.scopes[n].kind != Scope::Kind::Loop) continue;
    f.scopes[n].pending.insert(function.number);
    break;
  }
  b_->Terminate(Op::Break, {});
  return Flow{};
}

/// A function that returned from inside a loop goes on returning: out of the next loop, or of the iteration.
void Lowering::LeaveBy(std::set<uint32_t>& pending) {
  Frame& f = frame();
  uint32_t number = f.scopes.front().number;
  if (pending.count(number) == 0) return;
  bool kernel = frames_.size() == 1;
  if (f.loops == 0 && !kernel) return;
  pending.erase(number);
  ir::Inst branch = b_->If(AnyFlag({number}), {});
  ir::Block back = b_->block();
  b_->SetBlock((*kernel_)[branch].regions[0]);
  b_->Terminate(f.loops == 0 ? Op::Continue : Op::Break, {});
  Close((*kernel_)[branch].regions[1]);
  b_->SetBlock(back);
  for (size_t n = f.scopes.size(); f.loops != 0 && n-- > 0;) {
    if (f.scopes[n].kind != Scope::Kind::Loop) continue;
    f.scopes[n].pending.insert(number);
    break;
  }
}

Lowering::Arms Lowering::EmitArms(const Block& block, ir::Value condition, Id first, Id second, Id end) {
  Nest();
  Arms arms;
  arms.inst = b_->If(condition, {});
  ir::Block back = b_->block();
  for (uint32_t arm = 0; arm < 2; ++arm) {
    b_->SetBlock((*kernel_)[arms.inst].regions[arm]);
    // Two arms that lead to one block would emit it twice.
    Id target = arm == 0 ? first : second;
    arms.flows[arm] = EmitFrom(block.label, target, end);
  }
  b_->SetBlock(back);
  --depth_;
  return arms;
}

void Lowering::Nest() {
  if (++depth_ > kDeepestRegion)
    Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
           "move inner parts into loops of their own");
}

/// From `label` to `end`, where no flag of `guards` is set.
Lowering::Flow Lowering::EmitUnless(const std::set<uint32_t>& guards, Id label, Id end) {
  ir::Block region = b_->block();
  Nest();
  ir::Inst guard = b_->If(b_->Make(Op::Not, {AnyFlag(guards)}), {});
  b_->SetBlock((*kernel_)[guard].regions[0]);
  Flow rest = EmitFrom(0, label, end);
  --depth_;
  CloseArms(guard);
  b_->SetBlock(region);
  return rest;
}

Lowering::Flow Lowering::EmitFrom(Id from, Id label, Id end) {
  Flow result;  // what has been left pending so far
  ir::Block region = b_->block();
  for (;;) {
    b_->SetBlock(region);
    if (label == end && end != 0) {
      StoreEdge(from, label);
      result.falls = true;
      return result;
    }
    if (std::optional<Flow> left = Leave(from, label)) {
      result.Join(*left);
      return result;
    }
    StoreEdge(from, label);
    const Block& block = BlockAt(label);
    bool loop =
        block.merge != nullptr && block.merge->op == spv::OpLoopMerge && frame().open_header != block.label;
    Id merge = 0;
    Flow flow;
    if (loop) {
      merge = block.merge->At(0);
      flow = EmitLoop(block);
    } else {
      frame().open_header = 0;
      EmitBlock(block);
      const Instruction& last = *block.terminator;
      switch (static_cast<uint32_t>(last.op)) {
        case spv::OpBranch:
          from = block.label;
          label = last.At(0);
          continue;
        case spv::OpReturn:
        case spv::OpReturnValue:
          result.Join(Return(&last));
          return result;
        case spv::OpUnreachable:
          return result;
        case spv::OpSwitch: {
          Require(block.merge != nullptr, last, "a switch does not say where it ends");
          merge = block.merge->At(0);
          flow = EmitSwitch(block);
          break;
        }
        case spv::OpBranchConditional: {
          ir::Value condition = GetOne(last.At(0));
          Id first = last.At(1), second = last.At(2);
          if (first == second) {
            from = block.label;
            label = first;
            continue;
          }
          bool selection = block.merge != nullptr && block.merge->op == spv::OpSelectionMerge;
          if (selection) {
            merge = block.merge->At(0);
            Arms arms = EmitArms(block, condition, first, second, merge);
            ir::Block regions[2] = {(*kernel_)[arms.inst].regions[0], (*kernel_)[arms.inst].regions[1]};
            uint32_t falls = arms.flows[0].falls ? 0 : 1, other = 1 - falls;
            if (arms.flows[falls].falls && !arms.flows[other].falls && !arms.flows[other].pending.empty() &&
                arms.flows[falls].pending.empty()) {
              Close(regions[other]);
              Nest();
              b_->SetBlock(regions[falls]);
              Flow rest = EmitFrom(0, merge, end);
              --depth_;
              Close(regions[falls]);
              b_->SetBlock(region);
              result.Join(rest);
              result.Join(arms.flows[other]);
              LeaveBy(result.pending);
              return result;
            }
            Close(regions[0]);
            Close(regions[1]);
            flow = arms.flows[0];
            flow.Join(arms.flows[1]);
            break;
          }
          // One of the two leaves; what the other leads to follows.
          bool first_leaves = IsExit(first, end), second_leaves = IsExit(second, end);
          if (!first_leaves && !second_leaves)
            Refuse(diag::E0857, last.span, "a branch does not say where its arms meet");
          Id leaving = first_leaves ? first : second, staying = first_leaves ? second : first;
          bool ends = leaving == end || (first_leaves && second_leaves);
          if (!ends) {
            Nest();
            ir::Inst branch = b_->If(condition, {});
            ir::Block out = (*kernel_)[branch].regions[first_leaves ? 0 : 1];
            ir::Block in = (*kernel_)[branch].regions[first_leaves ? 1 : 0];
            b_->SetBlock(out);
            Flow left = EmitFrom(block.label, leaving, end);
            Close(out);
            b_->SetBlock(region);
            if (left.pending.empty()) {
              Close(in);
              --depth_;
              from = block.label;
              label = staying;
              continue;
            }
            b_->SetBlock(in);
            Flow rest = EmitFrom(block.label, staying, end);
            Close(in);
            b_->SetBlock(region);
            --depth_;
            result.Join(rest);
            result.Join(left);
            LeaveBy(result.pending);
            return result;
          }
          Arms arms = EmitArms(block, condition, first, second, end);
          CloseArms(arms.inst);
          result.Join(arms.flows[0]);
          result.Join(arms.flows[1]);
          LeaveBy(result.pending);
          return result;
        }
        case spv::OpKill:
        case spv::OpTerminateInvocation:
        default:
          Refuse(diag::E0854, last.span, "a block ends in a way that kernels do not have");
      }
    }
    // Behind the construct.
    b_->SetBlock(region);
    std::set<uint32_t> guards = flow.pending;
    LeaveBy(guards);
    if (!flow.falls) {
      result.pending.insert(guards.begin(), guards.end());
      return result;
    }
    from = 0;
    label = merge;
    if (guards.empty()) continue;
    result.Join(EmitUnless(guards, merge, end));
    result.pending.insert(guards.begin(), guards.end());
    LeaveBy(result.pending);
    return result;
  }
}

// --- switch ---

// Cases in the order of their blocks; one that another falls into comes right after it. Each runs where the
// selector is one of its literals, or where the case before it has fallen through.
Lowering::Flow Lowering::EmitSwitch(const Block& block) {
  const Instruction& last = *block.terminator;
  ir::Value selector = GetOne(last.At(0));
  Id merge = block.merge->At(0), fallback = last.At(1);
  ir::Type type = kernel_->TypeOf(selector);
  bool wide = ir::BitWidth(type.scalar) == 64;
  std::vector<SwitchCase> cases;
  std::map<Id, size_t> position;
  auto case_of = [&](Id label) -> std::vector<int64_t>& {
    auto [place, fresh] = position.try_emplace(label, cases.size());
    if (fresh) cases.push_back({label, {}});
    return cases[place->second].second;
  };
  std::vector<int64_t> all;
  for (size_t n = 2; n + (wide ? 2 : 1) < last.operands.size(); n += wide ? 3 : 2) {
    uint64_t bits = last.At(n) | (wide ? uint64_t{last.At(n + 1)} << 32 : 0);
    int64_t literal = wide ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
    case_of(last.At(n + (wide ? 2 : 1))).push_back(literal);
    all.push_back(literal);
  }
  Spend(all.size() + 1, last);
  case_of(fallback);
  OrderCases(merge, cases);
  Nest();
  Scope scope;
  scope.kind = Scope::Kind::Switch;
  scope.merge = merge;
  scope.number = NewFlag(&scope.flag);
  StoreSlot(scope.flag, b_->Int(ir::kI1, 0));
  ir::Value fell = Slot(ir::kI1);
  StoreSlot(fell, b_->Int(ir::kI1, 0));
  auto equals = [&](const std::vector<int64_t>& literals) {
    ir::Value any = b_->Int(ir::kI1, 0);
    bool first = true;
    for (int64_t literal : literals) {
      ir::Value same = b_->Make(Op::Eq, {selector, b_->Int(type, literal)});
      any = first ? same : b_->Make(Op::Or, {any, same});
      first = false;
    }
    return any;
  };
  std::vector<ir::Value> conditions;
  for (const auto& [label, literals] : cases) {
    if (label != fallback) {
      conditions.push_back(equals(literals));
      continue;
    }
    // The rest, and what is named beside the default.
    std::vector<int64_t> others;
    for (const auto& [other, named] : cases) {
      if (other != fallback) others.insert(others.end(), named.begin(), named.end());
    }
    conditions.push_back(b_->Make(Op::Not, {equals(others)}));
  }
  ir::Block region = b_->block();
  frame().scopes.push_back(scope);
  Flow flow;
  bool may_fall = false;
  for (size_t n = 0; n < cases.size(); ++n) {
    Id label = cases[n].first;
    ir::Value condition = conditions[n];
    if (may_fall) condition = b_->Make(Op::Or, {condition, LoadSlot(fell)});
    ir::Inst branch = b_->If(condition, {});
    ir::Block inside = (*kernel_)[branch].regions[0];
    b_->SetBlock(inside);
    if (may_fall) {
      // What has fallen has stored what the phis take from the case above.
      ir::Inst chosen = b_->If(b_->Make(Op::Not, {LoadSlot(fell)}), {});
      b_->SetBlock((*kernel_)[chosen].regions[0]);
      StoreEdge(block.label, label);
      CloseArms(chosen);
      b_->SetBlock(inside);
      StoreSlot(fell, b_->Int(ir::kI1, 0));
    } else {
      StoreEdge(block.label, label);
    }
    Id next = n + 1 < cases.size() ? cases[n + 1].first : 0;
    Flow one;
    if (label == merge) {
      one.falls = true;
    } else if (next != 0 && next != merge && CanReach(label, next, merge)) {
      // What reaches the next case without having left falls into it; what leaves does so by a flag.
      Flow body = EmitFrom(0, label, next);
      b_->SetBlock(inside);
      if (body.falls) {
        StoreSlot(fell,
                  body.pending.empty() ? b_->Int(ir::kI1, 1) : b_->Make(Op::Not, {AnyFlag(body.pending)}));
        may_fall = true;
      }
      one.pending = body.pending;
    } else {
      one = EmitFrom(0, label, merge);
    }
    Close(inside);
    Close((*kernel_)[branch].regions[1]);
    b_->SetBlock(region);
    flow.Join(one);
  }
  frame().scopes.pop_back();
  --depth_;
  if (flow.pending.erase(scope.number) != 0) flow.falls = true;
  return flow;
}

/// Puts each case in front of the one that it falls into. A case falls into one at most, and one at most
/// falls into it: of the cases of such a chain the first one reaches most others.
void Lowering::OrderCases(Id merge, std::vector<SwitchCase>& cases) {
  const Function& function = *frame().function;
  auto place_of = [&](Id label) {
    auto found = function.block_of.find(label);
    return found == function.block_of.end() ? UINT32_MAX : found->second;
  };
  std::sort(cases.begin(), cases.end(), [&](const SwitchCase& a, const SwitchCase& b) {
    return std::pair(place_of(a.first), a.first) < std::pair(place_of(b.first), b.first);
  });
  std::map<Id, size_t> position;
  for (size_t n = 0; n < cases.size(); ++n) position.emplace(cases[n].first, n);
  std::vector<std::vector<size_t>> reaches(cases.size());
  std::vector<bool> is_reached(cases.size(), false);
  for (size_t n = 0; n < cases.size(); ++n) {
    if (cases[n].first == merge) continue;
    for (Id label : ReachedFrom(cases[n].first, merge)) {
      auto other = position.find(label);
      if (other == position.end() || other->second == n || label == merge) continue;
      reaches[n].push_back(other->second);
      is_reached[other->second] = true;
    }
  }
  std::vector<size_t> order;
  std::vector<bool> placed(cases.size(), false);
  for (size_t n = 0; n < cases.size(); ++n) {
    if (is_reached[n]) continue;
    std::vector<size_t> chain = reaches[n];
    std::sort(chain.begin(), chain.end(), [&](size_t a, size_t b) {
      return std::pair(reaches[b].size(), a) < std::pair(reaches[a].size(), b);
    });
    chain.insert(chain.begin(), n);
    for (size_t at : chain) {
      if (!placed[at]) order.push_back(at);
      placed[at] = true;
    }
  }
  // Cases that reach each other do not nest: they stay where they are, and are refused there.
  for (size_t n = 0; n < cases.size(); ++n) {
    if (!placed[n]) order.push_back(n);
  }
  std::vector<SwitchCase> sorted;
  for (size_t at : order) sorted.push_back(std::move(cases[at]));
  cases = std::move(sorted);
}

/// The blocks that can be reached from `label` without passing `merge`, or leaving for a construct around.
std::set<Id> Lowering::ReachedFrom(Id label, Id merge) {
  std::vector<Id> pending{label};
  std::set<Id> seen{label};
  while (!pending.empty()) {
    const Block& block = BlockAt(pending.back());
    pending.pop_back();
    if (block.terminator != nullptr) Spend(1, *block.terminator);
    for (Id next : Successors(block)) {
      if (next == merge || IsExit(next, merge) || !seen.insert(next).second) continue;
      pending.push_back(next);
    }
  }
  return seen;
}

/// Whether `target` can be reached from `label` without passing `merge`.
bool Lowering::CanReach(Id label, Id target, Id merge) {
  std::vector<Id> pending{label};
  std::set<Id> seen{label};
  while (!pending.empty()) {
    const Block& block = BlockAt(pending.back());
    pending.pop_back();
    Spend(1, *block.terminator);
    for (Id next : Successors(block)) {
      if (next == target) return true;
      if (next == merge || IsExit(next, merge) || !seen.insert(next).second) continue;
      pending.push_back(next);
    }
  }
  return false;
}

std::vector<Id> Lowering::Successors(const Block& block) {
  std::vector<Id> labels;
  if (block.terminator == nullptr) return labels;
  const Instruction& last = *block.terminator;
  switch (static_cast<uint32_t>(last.op)) {
    case spv::OpBranch:
      labels.push_back(last.At(0));
      break;
    case spv::OpBranchConditional:
      labels = {last.At(1), last.At(2)};
      break;
    case spv::OpSwitch: {
      const Instruction* selector = binary_.Find(last.At(0));
      const Instruction* type = selector == nullptr ? nullptr : binary_.Find(selector->type);
      uint32_t words = type != nullptr && type->At(0) == 64 ? 2 : 1;
      labels.push_back(last.At(1));
      for (size_t n = 2 + words; n < last.operands.size(); n += words + 1) labels.push_back(last.At(n));
      break;
    }
    default:
      break;
  }
  return labels;
}

// --- calls ---

Value Lowering::Call(const Instruction& inst) {
  auto callee = binary_.functions().find(inst.At(0));
  Require(callee != binary_.functions().end() && !callee->second.blocks.empty(), inst,
          "a function without a body is called");
  if (frames_.size() > kDeepestCall)
    Refuse(diag::E0861, inst.span, "functions call each other more than 64 levels deep",
           "kernels have no recursion: write a loop");
  const Function& function = callee->second;
  Require(function.parameters.size() + 1 == inst.operands.size(), inst,
          "a function is called with another number of arguments");
  auto made = std::make_unique<Frame>();
  made->function = &function;
  for (size_t n = 0; n < function.parameters.size(); ++n) {
    const Instruction& parameter = *function.parameters[n];
    if (types_.KindOf(parameter.type) == spv::OpTypePointer && !types_.IsAddress(parameter.type)) {
      made->pointers[parameter.result] = GetPointer(inst.At(n + 1), inst);
    } else {
      made->values[parameter.result] = Get(inst.At(n + 1));
      made->defined_in[parameter.result] = b_->block();
    }
  }
  ir::Block back = b_->block();
  frames_.push_back(std::move(made));
  Scope scope;
  scope.number = NewFlag(&scope.flag);
  StoreSlot(scope.flag, b_->Int(ir::kI1, 0));
  if (types_.KindOf(function.definition->type) != spv::OpTypeVoid) {
    std::vector<ir::Type> leaves;
    types_.Leaves(function.definition->type, leaves);
    for (ir::Type leaf : leaves) scope.results.push_back(Slot(leaf));
  }
  frame().scopes.push_back(scope);
  // The body in a region of its own would not be seen; it is emitted right here.
  EmitFrom(0, function.blocks[0].label, 0);
  b_->SetBlock(back);
  b_->SetSpan(inst.span);
  Value result;
  for (ir::Value slot : frame().scopes.front().results) result.parts.push_back(LoadSlot(slot));
  // Locals of the callee end here; pointers to them cannot have left it.
  retired_.push_back(std::move(frames_.back()));
  frames_.pop_back();
  return result;
}

}  // namespace adc::frontend::spirv

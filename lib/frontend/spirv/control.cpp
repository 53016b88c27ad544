// Control flow of SPIR-V to regions of the IR.
//
// Blocks are followed from the first on. A selection names the block where its arms meet, a loop the blocks
// where it ends and where its next iteration begins; between these, branches may only leave for the meeting
// block of a construct around. So a region of the IR is emitted from a block on until `end` is reached, the
// block where the region's own construct meets:
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
// A loop whose counter goes by a constant step to a bound that nothing changes is a `for`; others are a
// `while`, whose condition region is the block that decides where that block does nothing else.
//
// Phis are local variables: each edge stores, the block loads. So is a value that is used where the region
// that computes it is not seen: the first attempt finds these, the next one stores them.

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

using ir::Op;

namespace {
constexpr uint32_t kDeepestRegion = 200;
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
  if (++depth_ > kDeepestRegion)
    Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
           "move inner parts into loops of their own");
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
              if (++depth_ > kDeepestRegion)
                Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
                       "move inner parts into loops of their own");
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
            if (++depth_ > kDeepestRegion)
              Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
                     "move inner parts into loops of their own");
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
    if (++depth_ > kDeepestRegion)
      Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
             "move inner parts into loops of their own");
    ir::Inst guard = b_->If(b_->Make(Op::Not, {AnyFlag(guards)}), {});
    b_->SetBlock((*kernel_)[guard].regions[0]);
    Flow rest = EmitFrom(0, merge, end);
    --depth_;
    CloseArms(guard);
    b_->SetBlock(region);
    result.Join(rest);
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
  if (++depth_ > kDeepestRegion)
    Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
           "move inner parts into loops of their own");
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

// --- loops ---

std::set<Id> Lowering::LoopBlocks(const Block& header) {
  std::set<Id> blocks{header.label};
  Id merge = header.merge->At(0);
  std::vector<Id> pending{header.label};
  const Function& function = *frames_.back()->function;
  while (!pending.empty()) {
    auto found = function.block_of.find(pending.back());
    pending.pop_back();
    if (found == function.block_of.end()) continue;
    const Block& block = function.blocks[found->second];
    ++spent_;
    for (Id next : Successors(block)) {
      bool outside = next == merge;
      for (const Scope& scope : frames_.back()->scopes)
        outside =
            outside || (scope.kind != Scope::Kind::Function && (next == scope.merge || next == scope.next));
      if (!outside && blocks.insert(next).second) pending.push_back(next);
    }
  }
  return blocks;
}

bool Lowering::UsedOutside(Id id, const std::set<Id>& blocks) {
  Frame& f = frame();
  if (f.uses.empty()) {
    for (const Block& block : f.function->blocks) {
      auto add = [&](const Instruction* inst) {
        if (inst == nullptr) return;
        for (uint32_t word : inst->operands) {
          std::vector<Id>& labels = f.uses[word];
          if (labels.empty() || labels.back() != block.label) labels.push_back(block.label);
        }
      };
      for (const Instruction* phi : block.phis) add(phi);
      for (const Instruction* inst : block.body) add(inst);
      add(block.terminator);
    }
    f.uses[0];
  }
  auto found = f.uses.find(id);
  if (found == f.uses.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](Id label) { return blocks.count(label) == 0; });
}

bool Lowering::IsPure(const Instruction& inst) const {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpStore:
    case spv::OpCopyMemory:
    case spv::OpFunctionCall:
    case spv::OpControlBarrier:
    case spv::OpMemoryBarrier:
    case spv::OpVariable:
      return false;
    case spv::OpExtInst:
      return inst.At(1) != GLSLstd450Modf && inst.At(1) != GLSLstd450Frexp;
    case spv::OpAtomicFAddEXT:
    case spv::OpAtomicFMinEXT:
    case spv::OpAtomicFMaxEXT:
      return false;
    default:
      return inst.op < spv::OpAtomicLoad || inst.op > spv::OpAtomicXor;
  }
}

/// Whether something in `blocks` may write the variable, or memory of the shader's that `variable` is.
bool Lowering::StoredIn(Id variable, const std::set<Id>& blocks) {
  const Instruction* inst = binary_.Find(variable);
  if (inst == nullptr) return true;
  if (inst->op != spv::OpVariable || inst->At(0) != spv::StorageClassFunction) {
    bool known = inst->op == spv::OpVariable && inst->At(0) != spv::StorageClassPrivate;
    return !known || written_.count(variable) != 0;
  }
  for (Id label : blocks) {
    const Block& block = BlockAt(label);
    for (const Instruction* in : block.body) {
      ++spent_;
      bool writes = in->op == spv::OpStore || in->op == spv::OpCopyMemory;
      if (writes && RootOf(in->At(0)) == variable) return true;
      if (in->op == spv::OpFunctionCall || in->op == spv::OpExtInst) {
        for (size_t n = 0; n < in->operands.size(); ++n) {
          if (RootOf(in->At(n)) == variable) return true;
        }
      }
    }
  }
  return false;
}

/// Whether a value that the deciding block computes is the same in every iteration.
bool Lowering::IsInvariant(Id id, const std::set<Id>& blocks, Id counter, uint32_t depth) {
  const Instruction* inst = binary_.Find(id);
  if (inst == nullptr || id == counter || depth > 32) return false;
  Id home = 0;
  for (Id label : blocks) {
    const Block& block = BlockAt(label);
    ++spent_;
    auto in = [&](const std::vector<const Instruction*>& list) {
      return std::any_of(list.begin(), list.end(), [&](const Instruction* other) { return other == inst; });
    };
    if (in(block.phis)) return false;
    if (in(block.body)) home = label;
  }
  if (home == 0) return true;
  if (!IsPure(*inst)) return false;
  switch (static_cast<uint32_t>(inst->op)) {
    case spv::OpLoad: {
      Id root = RootOf(inst->At(0));
      const Instruction* pointer = binary_.Find(inst->At(0));
      if (root == 0 || root == counter || pointer == nullptr || StoredIn(root, blocks)) return false;
      return root == inst->At(0) || IsInvariant(inst->At(0), blocks, counter, depth + 1);
    }
    case spv::OpArrayLength:
      return true;
    case spv::OpExtInst:
      for (size_t n = 2; n < inst->operands.size(); ++n) {
        if (!IsInvariant(inst->At(n), blocks, counter, depth + 1)) return false;
      }
      return true;
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
      for (size_t n = 1; n < inst->operands.size(); ++n) {
        if (!IsInvariant(inst->At(n), blocks, counter, depth + 1)) return false;
      }
      return true;
    case spv::OpIAdd:
    case spv::OpISub:
    case spv::OpIMul:
    case spv::OpSDiv:
    case spv::OpUDiv:
    case spv::OpBitcast:
    case spv::OpSNegate:
    case spv::OpShiftLeftLogical:
    case spv::OpShiftRightLogical:
    case spv::OpShiftRightArithmetic:
    case spv::OpBitwiseAnd:
    case spv::OpCopyObject:
      for (uint32_t word : inst->operands) {
        if (!IsInvariant(word, blocks, counter, depth + 1)) return false;
      }
      return true;
    case spv::OpCompositeExtract:
      return IsInvariant(inst->At(0), blocks, counter, depth + 1);
    default:
      return false;
  }
}

std::optional<Lowering::Counted> Lowering::FindCounted(const Block& header, const std::set<Id>& blocks) {
  Id merge = header.merge->At(0), next = header.merge->At(1);
  if (next == header.label || blocks.count(next) == 0) return std::nullopt;
  // The block that decides: the header, or the one right behind it.
  const Block* test = &header;
  if (header.terminator->op == spv::OpBranch) {
    if (blocks.count(header.terminator->At(0)) == 0) return std::nullopt;
    test = &BlockAt(header.terminator->At(0));
    if (test->merge != nullptr || !test->phis.empty() || test->label == next) return std::nullopt;
  }
  if (test->terminator->op != spv::OpBranchConditional) return std::nullopt;
  for (const Block* block : {&header, test}) {
    for (const Instruction* inst : block->body) {
      if (!IsPure(*inst)) return std::nullopt;
    }
  }
  Counted counted;
  counted.test = test;
  bool negated = test->terminator->At(1) == merge;
  if (negated == (test->terminator->At(2) == merge)) return std::nullopt;
  counted.body = test->terminator->At(negated ? 2 : 1);
  if (counted.body == next || blocks.count(counted.body) == 0) return std::nullopt;
  if (!BlockAt(merge).phis.empty()) {
    // Its phis take values where the test fails: only what the header's own phis say is known there.
    for (const Instruction* phi : BlockAt(merge).phis) {
      for (size_t n = 0; n + 1 < phi->operands.size(); n += 2) {
        if (phi->At(n + 1) == test->label) return std::nullopt;
      }
    }
  }
  const Instruction* condition = binary_.Find(test->terminator->At(0));
  if (condition == nullptr) return std::nullopt;
  enum class Order { Less, LessEqual, Greater, GreaterEqual } order;
  switch (static_cast<uint32_t>(condition->op)) {
    case spv::OpULessThan:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSLessThan:
      order = Order::Less;
      break;
    case spv::OpULessThanEqual:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSLessThanEqual:
      order = Order::LessEqual;
      break;
    case spv::OpUGreaterThan:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSGreaterThan:
      order = Order::Greater;
      break;
    case spv::OpUGreaterThanEqual:
      counted.is_unsigned = true;
      [[fallthrough]];
    case spv::OpSGreaterThanEqual:
      order = Order::GreaterEqual;
      break;
    default:
      return std::nullopt;
  }
  auto flip = [](Order o) {
    return o == Order::Less        ? Order::Greater
           : o == Order::LessEqual ? Order::GreaterEqual
           : o == Order::Greater   ? Order::Less
                                   : Order::LessEqual;
  };
  auto opposite = [](Order o) {
    return o == Order::Less        ? Order::GreaterEqual
           : o == Order::LessEqual ? Order::Greater
           : o == Order::Greater   ? Order::LessEqual
                                   : Order::Less;
  };
  if (negated) order = opposite(order);
  // The counter on one side: a load of a variable, or a phi of the header.
  auto counter_of = [&](Id side) -> Id {
    const Instruction* inst = binary_.Find(side);
    if (inst == nullptr) return 0;
    if (inst->op == spv::OpPhi)
      return std::find(header.phis.begin(), header.phis.end(), inst) != header.phis.end() ? side : 0;
    if (inst->op != spv::OpLoad) return 0;
    const Instruction* variable = binary_.Find(inst->At(0));
    bool local = variable != nullptr && variable->op == spv::OpVariable &&
                 variable->At(0) == spv::StorageClassFunction;
    return local ? inst->At(0) : 0;
  };
  Id left = condition->At(0), right = condition->At(1);
  auto try_side = [&](Id side, Id bound) -> bool {
    Id counter = counter_of(side);
    if (counter == 0) return false;
    const Instruction* in = binary_.Find(side);
    bool here = in->op == spv::OpPhi;
    for (const Block* block : {&header, test}) {
      here = here || std::find(block->body.begin(), block->body.end(), in) != block->body.end();
    }
    if (!here || !FindStep(header, blocks, counter, counted)) return false;
    if (!IsInvariant(bound, blocks, counter, 0)) return false;
    counted.bound = bound;
    return true;
  };
  if (!try_side(left, right)) {
    if (!try_side(right, left)) return std::nullopt;
    order = flip(order);
  }
  bool up = counted.step > 0;
  bool less = order == Order::Less || order == Order::LessEqual;
  if (up != less || (!up && counted.step != -1)) return std::nullopt;
  // Downwards without a sign, `i >= 0` always holds.
  if (!up && counted.is_unsigned) return std::nullopt;
  counted.reversed = !up;
  counted.inclusive = order == Order::LessEqual || order == Order::GreaterEqual;
  if (MayWrap(blocks, counted)) return std::nullopt;
  // What the deciding blocks compute is not seen behind the loop.
  for (const Block* block : {&header, test}) {
    for (const Instruction* inst : block->body) {
      if (inst->result != 0 && UsedOutside(inst->result, blocks)) return std::nullopt;
    }
  }
  bool only_counter = true;
  for (const Instruction* phi : header.phis) only_counter = only_counter && phi->result == counted.counter;
  const Block& last = BlockAt(next);
  counted.plain = only_counter && last.phis.empty() && !counted.seen_outside;
  for (const Instruction* inst : last.body)
    counted.plain = counted.plain && (IsPure(*inst) || inst == counted.update);
  return counted;
}

/// Whether constants say that the i32 which counts for the loop would pass its largest or smallest value
/// where the shader's counter does not, or that the loop ends only when its counter wraps.
bool Lowering::MayWrap(const std::set<Id>& blocks, Counted& counted) {
  std::vector<Id> starts;
  if (counted.is_phi) {
    starts.push_back(counted.first);
  } else {
    for (const Block& block : frame().function->blocks) {
      if (blocks.count(block.label) != 0) continue;
      for (const Instruction* inst : block.body) {
        if (inst->op == spv::OpStore && inst->At(0) == counted.counter) starts.push_back(inst->At(1));
      }
    }
    const Instruction* variable = binary_.Find(counted.counter);
    if (variable->operands.size() > 1) starts.push_back(variable->At(1));
  }
  counted.from_constant = !starts.empty();
  for (Id start : starts) {
    std::optional<int64_t> known = types_.Integer(start);
    counted.from_constant = counted.from_constant && known;
    if (!known) continue;
    auto first = static_cast<int32_t>(*known);
    if ((counted.is_unsigned && first < 0) || (counted.reversed && first == INT32_MAX)) return true;
  }
  std::optional<int64_t> known = types_.Integer(counted.bound);
  if (!known) return false;
  auto bound = static_cast<int32_t>(*known);
  if (counted.reversed) return counted.inclusive && bound == INT32_MIN;
  // Behind its last value the counter goes one step on.
  return (counted.is_unsigned && bound < 0) ||
         int64_t{bound} + (counted.inclusive ? 1 : 0) + counted.step - 1 > INT32_MAX;
}

/// Whether the counter goes by a constant step, once per iteration, at its end.
bool Lowering::FindStep(const Block& header, const std::set<Id>& blocks, Id counter, Counted& counted) {
  Id next = header.merge->At(1);
  const Block& last = BlockAt(next);
  if (last.merge != nullptr || last.terminator->op != spv::OpBranch || last.terminator->At(0) != header.label)
    return false;
  const Instruction* definition = binary_.Find(counter);
  Id type = definition->op == spv::OpPhi ? definition->type : types_.Element(definition->type);
  if (types_.KindOf(type) != spv::OpTypeInt || types_.Of(type).At(0) != 32) return false;
  auto step_of = [&](Id value, auto&& is_counter) -> int64_t {
    const Instruction* sum = binary_.Find(value);
    if (sum == nullptr || (sum->op != spv::OpIAdd && sum->op != spv::OpISub)) return 0;
    Id a = sum->At(0), b = sum->At(1);
    if (sum->op == spv::OpIAdd && is_counter(b)) std::swap(a, b);
    const Instruction* constant = binary_.Find(b);
    std::optional<int64_t> step = types_.Integer(b);
    if (!is_counter(a) || !step || constant->op != spv::OpConstant) return 0;
    auto narrow = static_cast<int32_t>(*step);
    return sum->op == spv::OpISub ? -int64_t{narrow} : int64_t{narrow};
  };
  if (definition->op == spv::OpPhi) {
    if (definition->operands.size() != 4) return false;
    size_t back = definition->At(1) == next ? 0 : 2;
    if (definition->At(back + 1) != next) return false;
    counted.first = definition->At(2 - back);
    counted.step = step_of(definition->At(back), [&](Id id) { return id == counter; });
    counted.update = binary_.Find(definition->At(back));
    counted.is_phi = true;
  } else {
    // Nothing but loads, and in the loop one store: the last block's.
    const Instruction* update = nullptr;
    for (const Block& block : frame().function->blocks) {
      bool inside = blocks.count(block.label) != 0;
      for (const Instruction* inst : block.body) {
        ++spent_;
        bool names = std::find(inst->operands.begin(), inst->operands.end(), counter) != inst->operands.end();
        if (!names || inst->op == spv::OpLoad) continue;
        bool store = inst->op == spv::OpStore && inst->At(0) == counter && inst->At(1) != counter;
        // A literal may look like the variable; only what takes pointers matters.
        bool takes = inst->op == spv::OpStore || inst->op == spv::OpCopyMemory ||
                     inst->op == spv::OpAccessChain || inst->op == spv::OpInBoundsAccessChain ||
                     inst->op == spv::OpFunctionCall || inst->op == spv::OpExtInst ||
                     inst->op == spv::OpCopyObject || inst->op == spv::OpSelect;
        if (!takes) continue;
        if (!store) return false;
        if (!inside) continue;
        if (update != nullptr || block.label != next) return false;
        update = inst;
      }
    }
    if (update == nullptr) return false;
    counted.update = update;
    counted.step = step_of(update->At(1), [&](Id id) {
      const Instruction* load = binary_.Find(id);
      bool in_last = std::find(last.body.begin(), last.body.end(), load) != last.body.end();
      return load != nullptr && load->op == spv::OpLoad && load->At(0) == counter && in_last;
    });
    // Behind the store its block must not read it again.
    bool stored = false;
    for (const Instruction* inst : last.body) {
      if (stored && inst->op == spv::OpLoad && inst->At(0) == counter) return false;
      stored = stored || inst == update;
    }
  }
  counted.counter = counter;
  if (counted.step == 0) return false;
  counted.seen_outside = false;
  if (definition->op == spv::OpPhi) {
    counted.seen_outside = UsedOutside(counter, blocks);
  } else {
    for (const Block& block : frame().function->blocks) {
      if (blocks.count(block.label) != 0) continue;
      for (const Instruction* inst : block.body)
        counted.seen_outside = counted.seen_outside || (inst->op == spv::OpLoad && inst->At(0) == counter);
    }
  }
  return true;
}

Lowering::Flow Lowering::EmitLoop(const Block& header) {
  if (++depth_ > kDeepestRegion)
    Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
           "move inner parts into loops of their own");
  if (header.terminator == nullptr) Refuse(diag::E0852, b_->span(), "a block does not end");
  std::set<Id> blocks = LoopBlocks(header);
  Spend(blocks.size(), *header.merge);
  Scope scope;
  scope.kind = Scope::Kind::Loop;
  scope.merge = header.merge->At(0);
  scope.next = header.merge->At(1);
  std::optional<Counted> counted = FindCounted(header, blocks);
  scope.plain_continue = counted && counted->plain;
  if (!scope.plain_continue) scope.next_number = NewFlag(&scope.next_flag);
  frame().scopes.push_back(scope);
  ++frame().loops;
  Flow flow = counted ? EmitCounted(header, *counted) : EmitWhile(header, blocks);
  flow.pending = frame().scopes.back().pending;
  frame().scopes.pop_back();
  --frame().loops;
  --depth_;
  return flow;
}

void Lowering::EmitNext(const Block& header, const Flow& flow) {
  Scope scope = frame().scopes.back();
  ir::Block region = b_->block();
  std::set<uint32_t> rest = flow.pending;
  bool continued = rest.erase(scope.next_number) != 0;
  // Anything else that is pending here leaves more than the loop; LeaveBy has taken it out already.
  if (!rest.empty()) Refuse(diag::E0857, b_->span(), "a branch leaves a loop for a construct around it");
  if (!flow.falls && !continued) return;
  if (scope.next == header.label) return;
  frame().scopes.back().next = 0;
  Flow end = EmitFrom(0, scope.next, header.label);
  frame().scopes.back().next = scope.next;
  if (!end.pending.empty())
    Refuse(diag::E0857, b_->span(), "what follows an iteration leaves for a construct around the loop");
  b_->SetBlock(region);
}

/// Whether a bound without a sign may be beyond an i32: a counter or an extent is not.
bool Lowering::MayBeLarge(ir::Value bound) const {
  const ir::ValueData* data = &(*kernel_)[bound];
  if (data->kind == ir::ValueKind::Result && (*kernel_)[ir::Inst(data->owner)].op == Op::Cast) {
    data = &(*kernel_)[kernel_->Operand(ir::Inst(data->owner), 0)];
    if (data->type.Is(ir::Scalar::U32)) return true;
  }
  if (data->kind == ir::ValueKind::Result) return (*kernel_)[ir::Inst(data->owner)].op != Op::Shape;
  return data->kind != ir::ValueKind::BlockParam || ir::Block(data->owner) == kernel_->Body();
}

Lowering::Flow Lowering::EmitCounted(const Block& header, const Counted& counted) {
  Frame& f = frame();
  // The bound, and what it is computed from, in front of the loop.
  std::set<Id> needed{counted.bound};
  std::vector<const Instruction*> chosen;
  auto choose = [&](const Block& from) {
    for (size_t n = from.body.size(); n-- > 0;) {
      const Instruction* inst = from.body[n];
      if (needed.count(inst->result) == 0) continue;
      chosen.push_back(inst);
      needed.insert(inst->operands.begin(), inst->operands.end());
    }
  };
  choose(*counted.test);
  if (counted.test != &header) choose(header);
  for (size_t n = chosen.size(); n-- > 0;) Emit(*chosen[n]);
  ir::Value bound = GetOne(counted.bound);
  // More iterations than an i32 counts are as many as it counts, and not none.
  if (counted.is_unsigned && counted.from_constant && !types_.Integer(counted.bound) && MayBeLarge(bound)) {
    ir::Value word = b_->Cast(bound, ir::kU32);
    bound = b_->Make(Op::Min, {word, b_->Int(ir::kU32, INT32_MAX)});
  }
  bound = b_->Cast(bound, ir::kI32);
  ir::Value first;
  if (counted.is_phi) {
    // Where it comes from is one of two, and has been stored on the edge.
    first = LoadSlot(SlotOfPhi(*binary_.Find(counted.counter), 0));
  } else {
    first = Load(GetPointer(counted.counter, *header.merge), *header.merge).parts[0];
  }
  ir::Value one = b_->I32(1);
  ir::Value low = first, high = bound;
  if (counted.reversed) {
    low = counted.inclusive ? bound : b_->Make(Op::Add, {bound, one});
    high = b_->Make(Op::Add, {first, one});
  } else if (counted.inclusive) {
    high = b_->Make(Op::Add, {bound, one});
  }
  ir::Value step = b_->I32(static_cast<int32_t>(counted.reversed ? 1 : counted.step));
  ir::Inst loop = b_->For(low, high, step, {}, counted.reversed ? ir::kFlagReversed : 0);
  ir::Block back = b_->block(), region = (*kernel_)[loop].regions[0];
  ir::Value index = (*kernel_)[region].params[0];
  b_->SetBlock(region);
  const Instruction& counter = *binary_.Find(counted.counter);
  std::string name(binary_.NameOf(counted.counter));
  if (!name.empty()) (*kernel_)[index].name = FreeName(name);
  Scope& scope = f.scopes.back();
  if (!scope.plain_continue) StoreSlot(scope.next_flag, b_->Int(ir::kI1, 0));
  if (counted.is_phi) {
    f.skipped.insert(&counter);
    if (counted.seen_outside) StoreSlot(SlotOfPhi(counter, 0), index);
    std::vector<ir::Value> slots = f.stored[counted.counter];
    f.stored.erase(counted.counter);
    Set(counter, {{index}});
    if (counted.seen_outside) f.stored[counted.counter] = slots;
  } else {
    if (counted.seen_outside) {
      Store(GetPointer(counted.counter, *header.merge), {{index}}, *header.merge);
    }
    f.counters[counted.counter] = index;
    f.skipped.insert(counted.update);
  }
  // The deciding blocks once more, for what the body reads of them.
  EmitBlock(header);
  if (counted.test != &header) EmitBlock(*counted.test);
  b_->SetSpan(header.merge->span);
  StoreEdge(counted.test->label, counted.body);
  Flow body = EmitFrom(0, counted.body, f.scopes.back().next);
  b_->SetBlock(region);
  EmitNext(header, body);
  b_->SetBlock(region);
  if (counted.seen_outside && !kernel_->Terminator(region).Valid()) {
    ir::Value after = b_->Make(Op::Add, {index, b_->I32(static_cast<int32_t>(counted.step))});
    if (counted.is_phi) {
      StoreSlot(f.stored[counted.counter][0], after);
    } else {
      Store(GetPointer(counted.counter, *header.merge), {{after}}, *header.merge);
    }
  }
  Close(region);
  f.counters.erase(counted.counter);
  b_->SetBlock(back);
  return Flow{true, {}};
}

Lowering::Flow Lowering::EmitWhile(const Block& header, const std::set<Id>& blocks) {
  Frame& f = frame();
  Id merge = header.merge->At(0), next = header.merge->At(1);
  // A block that only decides is the condition.
  const Block* test = nullptr;
  if (next != header.label && BlockAt(merge).phis.empty()) {
    const Block* candidate = &header;
    if (header.terminator->op == spv::OpBranch && blocks.count(header.terminator->At(0)) != 0) {
      candidate = &BlockAt(header.terminator->At(0));
      if (candidate->merge != nullptr || !candidate->phis.empty() || candidate->label == next)
        candidate = nullptr;
    }
    if (candidate != nullptr && candidate->terminator->op == spv::OpBranchConditional &&
        (candidate->terminator->At(1) == merge) != (candidate->terminator->At(2) == merge)) {
      bool pure = true;
      for (const Block* block : {&header, candidate}) {
        for (const Instruction* inst : block->body)
          pure = pure && IsPure(*inst) && leave_region_.count(inst->result) == 0;
      }
      if (pure) test = candidate;
    }
  }
  ir::Inst loop = b_->While({}, {});
  ir::Block back = b_->block(), condition = (*kernel_)[loop].regions[0], region = (*kernel_)[loop].regions[1];
  b_->SetBlock(condition);
  Flow body;
  if (test != nullptr) {
    EmitBlock(header);
    if (test != &header) EmitBlock(*test);
    bool negated = test->terminator->At(1) == merge;
    ir::Value goes = GetOne(test->terminator->At(0));
    if (negated) goes = b_->Make(Op::Not, {goes});
    b_->Terminate(Op::ContinueIf, {{goes}});
    b_->SetBlock(region);
    StoreSlot(f.scopes.back().next_flag, b_->Int(ir::kI1, 0));
    Id start = test->terminator->At(negated ? 2 : 1);
    if (start == next) {
      StoreEdge(test->label, next);
      body.falls = true;
    } else {
      StoreEdge(test->label, start);
      body = EmitFrom(0, start, next);
    }
  } else {
    ir::Value yes = b_->Int(ir::kI1, 1);
    b_->Terminate(Op::ContinueIf, {{yes}});
    b_->SetBlock(region);
    StoreSlot(f.scopes.back().next_flag, b_->Int(ir::kI1, 0));
    f.open_header = header.label;
    if (next == header.label) {
      // The header is the whole loop, and branches back to itself.
      EmitBlock(header);
      f.open_header = 0;
      const Instruction& last = *header.terminator;
      if (last.op == spv::OpBranchConditional) {
        bool negated = last.At(2) == header.label;
        Require((last.At(1) == header.label) != negated, last, "a loop of one block does not repeat itself");
        Id out = last.At(negated ? 1 : 2);
        ir::Value again = GetOne(last.At(0));
        if (negated) again = b_->Make(Op::Not, {again});
        ir::Inst branch = b_->If(again, {});
        b_->SetBlock((*kernel_)[branch].regions[0]);
        StoreEdge(header.label, header.label);
        b_->SetBlock((*kernel_)[branch].regions[1]);
        Require(Leave(header.label, out).has_value(), last, "a loop of one block leaves for elsewhere");
        CloseArms(branch);
        b_->SetBlock(region);
      } else {
        StoreEdge(header.label, header.label);
      }
    } else {
      body = EmitFrom(0, header.label, next);
    }
  }
  b_->SetBlock(region);
  EmitNext(header, body);
  Close(region);
  b_->SetBlock(back);
  return Flow{true, {}};
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
    if (types_.KindOf(parameter.type) == spv::OpTypePointer) {
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

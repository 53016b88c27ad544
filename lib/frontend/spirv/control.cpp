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
// Leaving a loop is the IR's `break`. The end of a `switch` from inside an `if`, a `return`, and a `continue`
// behind which something is still to do leave a scope: around the cases, the body of the function, the body
// of the loop. A scope that nothing leaves is taken out again.
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

void Lowering::OpenScope(Scope& scope) {
  Nest();
  scope.inst = b_->Scope({});
  b_->SetBlock((*kernel_)[scope.inst].regions[0]);
}

void Lowering::CloseScope(const Scope& scope) {
  --depth_;
  ir::Block region = (*kernel_)[scope.inst].regions[0], around = (*kernel_)[scope.inst].parent;
  b_->SetBlock(around);
  if (scope.is_left) return Close(region);
  std::vector<ir::Inst> insts = std::move((*kernel_)[region].insts);
  (*kernel_)[region].insts.clear();
  (*kernel_)[around].insts.pop_back();
  for (ir::Inst inst : insts) kernel_->Append(around, inst);
  moved_[region] = around;
}

void Lowering::Exit(Scope& scope) {
  scope.is_left = true;
  b_->Terminate(Op::Exit, {{(*kernel_)[(*kernel_)[scope.inst].regions[0]].params[0]}});
}

/// Takes the way out that `target` is; false where it is none.
bool Lowering::Leave(Id from, Id target) {
  std::vector<Scope>& scopes = frame().scopes;
  for (size_t n = scopes.size(); n-- > 0;) {
    Scope& scope = scopes[n];
    bool is_loop = scope.kind == Scope::Kind::Loop;
    if (scope.kind == Scope::Kind::Function) return false;
    if (target == scope.merge || (is_loop && target == scope.next)) {
      StoreEdge(from, target);
      if (is_loop && target == scope.merge) {
        b_->Terminate(Op::Break, {});
      } else {
        Exit(scope);
      }
      return true;
    }
    if (is_loop) return false;
  }
  return false;
}

void Lowering::Return(const Instruction& last) {
  Scope& function = frame().scopes.front();
  if (last.op == spv::OpReturnValue) {
    Value result = Get(last.At(0));
    for (size_t n = 0; n < result.parts.size(); ++n) {
      if (function.results.size() <= n) function.results.push_back(Slot(kernel_->TypeOf(result.parts[n])));
      StoreSlot(function.results[n], result.parts[n]);
    }
  }
  // At the end of the function there is nothing left to pass over.
  if (b_->block() != (*kernel_)[function.inst].regions[0]) Exit(function);
}

bool Lowering::EmitArms(const Block& block, ir::Value condition, Id first, Id second, Id end) {
  Nest();
  ir::Inst branch = b_->If(condition, {});
  ir::Block back = b_->block();
  bool falls = false;
  for (uint32_t arm = 0; arm < 2; ++arm) {
    b_->SetBlock((*kernel_)[branch].regions[arm]);
    // Two arms that lead to one block would emit it twice.
    falls = EmitFrom(block.label, arm == 0 ? first : second, end) || falls;
  }
  b_->SetBlock(back);
  CloseArms(branch);
  --depth_;
  return falls;
}

void Lowering::Nest() {
  if (++depth_ > kDeepestRegion)
    Refuse(diag::E0857, b_->span(), "branches and loops nest deeper than 200 levels",
           "move inner parts into loops of their own");
}

/// A branch of a block that is no selection: one arm at least leaves. What the other one leads to follows,
/// and is given back; 0 where the region ends with the branch.
Id Lowering::EmitWayOut(const Block& block, ir::Value condition, Id end, bool* falls) {
  const Instruction& last = *block.terminator;
  Id first = last.At(1), second = last.At(2);
  bool first_leaves = IsExit(first, end), second_leaves = IsExit(second, end);
  if (!first_leaves && !second_leaves)
    Refuse(diag::E0857, last.span, "a branch does not say where its arms meet");
  Id leaving = first_leaves ? first : second;
  if (leaving == end || (first_leaves && second_leaves)) {
    *falls = EmitArms(block, condition, first, second, end);
    return 0;
  }
  Nest();
  ir::Inst branch = b_->If(condition, {});
  ir::Block back = b_->block();
  b_->SetBlock((*kernel_)[branch].regions[first_leaves ? 0 : 1]);
  Leave(block.label, leaving);
  b_->SetBlock(back);
  CloseArms(branch);
  --depth_;
  return first_leaves ? second : first;
}

/// Emits from `label` to `end`; whether control may get there.
bool Lowering::EmitFrom(Id from, Id label, Id end) {
  for (;;) {
    if (label == end && end != 0) {
      StoreEdge(from, label);
      return true;
    }
    if (Leave(from, label)) return false;
    StoreEdge(from, label);
    const Block& block = BlockAt(label);
    from = 0;
    if (block.merge != nullptr && block.merge->op == spv::OpLoopMerge && frame().open_header != block.label) {
      EmitLoop(block);
      label = block.merge->At(0);
      continue;
    }
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
        Return(last);
        return false;
      case spv::OpUnreachable:
        return false;
      case spv::OpSwitch:
        Require(block.merge != nullptr, last, "a switch does not say where it ends");
        if (!EmitSwitch(block)) return false;
        label = block.merge->At(0);
        continue;
      case spv::OpBranchConditional: {
        ir::Value condition = GetOne(last.At(0));
        if (last.At(1) == last.At(2)) {
          from = block.label;
          label = last.At(1);
        } else if (block.merge != nullptr && block.merge->op == spv::OpSelectionMerge) {
          label = block.merge->At(0);
          if (!EmitArms(block, condition, last.At(1), last.At(2), label)) return false;
        } else {
          bool falls = false;
          from = block.label;
          label = EmitWayOut(block, condition, end, &falls);
          if (label == 0) return falls;
        }
        continue;
      }
      default:
        Refuse(diag::E0854, last.span, "a block ends in a way that kernels do not have");
    }
  }
}

// --- switch ---

std::vector<Lowering::SwitchCase> Lowering::CasesOf(const Block& block) {
  const Instruction& last = *block.terminator;
  bool wide = ir::BitWidth(kernel_->TypeOf(GetOne(last.At(0))).scalar) == 64;
  std::vector<SwitchCase> cases;
  std::map<Id, size_t> position;
  auto case_of = [&](Id label) -> std::vector<int64_t>& {
    auto [place, fresh] = position.try_emplace(label, cases.size());
    if (fresh) cases.push_back({label, {}});
    return cases[place->second].second;
  };
  Spend(last.operands.size() / 2, last);
  for (size_t n = 2; n + (wide ? 2 : 1) < last.operands.size(); n += wide ? 3 : 2) {
    uint64_t bits = last.At(n) | (wide ? uint64_t{last.At(n + 1)} << 32 : 0);
    int64_t literal = wide ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
    case_of(last.At(n + (wide ? 2 : 1))).push_back(literal);
  }
  case_of(last.At(1));
  OrderCases(block.merge->At(0), cases);
  return cases;
}

/// For each case, whether the selector chooses it.
std::vector<ir::Value> Lowering::ConditionsOf(const std::vector<SwitchCase>& cases, const Instruction& last) {
  ir::Value selector = GetOne(last.At(0));
  ir::Type type = kernel_->TypeOf(selector);
  auto equals = [&](const std::vector<int64_t>& literals) {
    ir::Value any;
    for (int64_t literal : literals) {
      ir::Value same = b_->Make(Op::Eq, {selector, b_->Int(type, literal)});
      any = any.Valid() ? b_->Make(Op::Or, {any, same}) : same;
    }
    return any.Valid() ? any : b_->Int(ir::kI1, 0);
  };
  std::vector<ir::Value> conditions;
  for (const auto& [label, literals] : cases) {
    if (label != last.At(1)) {
      conditions.push_back(equals(literals));
      continue;
    }
    // The rest, and what is named beside the default.
    std::vector<int64_t> others;
    for (const auto& [other, named] : cases) {
      if (other != label) others.insert(others.end(), named.begin(), named.end());
    }
    conditions.push_back(b_->Make(Op::Not, {equals(others)}));
  }
  return conditions;
}

// Cases in the order of their blocks; one that another falls into comes right after it. Each runs where the
// selector is one of its literals, or where the case before it has fallen through.
// Whether control may get behind the switch is the result.
bool Lowering::EmitSwitch(const Block& block) {
  Id merge = block.merge->At(0);
  std::vector<SwitchCase> cases = CasesOf(block);
  std::vector<ir::Value> conditions = ConditionsOf(cases, *block.terminator);
  ir::Value fell = Slot(ir::kI1);
  StoreSlot(fell, b_->Int(ir::kI1, 0));
  Scope scope;
  scope.kind = Scope::Kind::Switch;
  scope.merge = merge;
  OpenScope(scope);
  ir::Block region = b_->block();
  frame().scopes.push_back(scope);
  bool falls = false, may_fall = false;
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
    if (label == merge) {
      falls = true;
    } else if (next != 0 && next != merge && CanReach(label, next, merge)) {
      // What reaches the next case falls into it.
      if (EmitFrom(0, label, next)) {
        StoreSlot(fell, b_->Int(ir::kI1, 1));
        may_fall = true;
      }
    } else {
      falls = EmitFrom(0, label, merge) || falls;
    }
    CloseArms(branch);
    b_->SetBlock(region);
  }
  scope = frame().scopes.back();
  frame().scopes.pop_back();
  CloseScope(scope);
  return falls || scope.is_left;
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
  frames_.push_back(std::move(made));
  Scope scope;
  if (types_.KindOf(function.definition->type) != spv::OpTypeVoid) {
    std::vector<ir::Type> leaves;
    types_.Leaves(function.definition->type, leaves);
    for (ir::Type leaf : leaves) scope.results.push_back(Slot(leaf));
  }
  OpenScope(scope);
  frame().scopes.push_back(scope);
  EmitFrom(0, function.blocks[0].label, 0);
  CloseScope(frame().scopes.front());
  b_->SetSpan(inst.span);
  Value result;
  for (ir::Value slot : frame().scopes.front().results) result.parts.push_back(LoadSlot(slot));
  // Locals of the callee end here; pointers to them cannot have left it.
  retired_.push_back(std::move(frames_.back()));
  frames_.pop_back();
  return result;
}

}  // namespace adc::frontend::spirv

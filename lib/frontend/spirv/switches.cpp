// Cases of a switch, one `if` after the other.

#include <algorithm>

#include "frontend/spirv/control_flow.h"

namespace adc::frontend::spirv {

using ir::Op;

std::vector<ControlFlow::SwitchCase> ControlFlow::CasesOf(const Block& block) {
  const Instruction& last = *block.terminator;
  bool wide = ir::BitWidth(kernel_.TypeOf(GetOne(last.At(0))).scalar) == 64;
  std::vector<SwitchCase> cases;
  std::map<Id, size_t> position;
  auto case_of = [&](Id label) -> std::vector<int64_t>& {
    auto [place, fresh] = position.try_emplace(label, cases.size());
    if (fresh) cases.push_back({label, {}});
    return cases[place->second].second;
  };
  Spend(last.operands.size() / 2, last);
  for (size_t n = 2; n + (wide ? 2 : 1) < last.operands.size(); n += wide ? 3 : 2) {
    uint64_t bits = last.Number(n, wide);
    int64_t literal = wide ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
    case_of(last.At(n + (wide ? 2 : 1))).push_back(literal);
  }
  case_of(last.At(1));
  OrderCases(block.merge->At(0), cases);
  return cases;
}

/// For each case, whether the selector chooses it.
std::vector<ir::Value> ControlFlow::ConditionsOf(const std::vector<SwitchCase>& cases,
                                                 const Instruction& last) {
  ir::Value selector = GetOne(last.At(0));
  ir::Type type = kernel_.TypeOf(selector);
  auto equals = [&](const std::vector<int64_t>& literals) {
    ir::Value any;
    for (int64_t literal : literals) {
      ir::Value same = b_.Make(Op::Eq, {selector, b_.Int(type, literal)});
      any = any.Valid() ? b_.Make(Op::Or, {any, same}) : same;
    }
    return any.Valid() ? any : b_.Int(ir::kI1, 0);
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
    conditions.push_back(b_.Make(Op::Not, {equals(others)}));
  }
  return conditions;
}

/// Puts each case in front of the one that it falls into. A case falls into one at most, and one at most
/// falls into it: of the cases of such a chain the first one reaches most others.
void ControlFlow::OrderCases(Id merge, std::vector<SwitchCase>& cases) {
  const Function& function = *inlined().function;
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
    for (Id label : ReachedFrom(cases[n].first, merge, 0)) {
      auto other = position.find(label);
      if (other == position.end() || other->second == n || label == merge) continue;
      reaches[n].push_back(other->second);
      is_reached[other->second] = true;
    }
  }
  // Cases that reach each other have no first one and do not nest: they come last, and are refused there.
  std::vector<size_t> first(cases.size(), SIZE_MAX), order;
  for (size_t n = 0; n < cases.size(); ++n) {
    order.push_back(n);
    if (is_reached[n]) continue;
    first[n] = n;
    for (size_t other : reaches[n]) first[other] = std::min(first[other], n);
  }
  auto rank = [&](size_t n) {
    bool is_first = first[n] == n || first[n] == SIZE_MAX;
    return std::tuple(first[n], is_first ? 0 : SIZE_MAX - reaches[n].size(), n);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  std::vector<SwitchCase> sorted;
  for (size_t at : order) sorted.push_back(std::move(cases[at]));
  cases = std::move(sorted);
}

/// The blocks that can be reached from `label` without passing `merge`, or leaving for a construct around;
/// no further ones where `target` is among them.
std::set<Id> ControlFlow::ReachedFrom(Id label, Id merge, Id target) {
  std::vector<Id> pending{label};
  std::set<Id> seen{label};
  while (!pending.empty()) {
    const Block& block = BlockAt(pending.back());
    pending.pop_back();
    if (block.terminator != nullptr) Spend(1, *block.terminator);
    for (Id next : binary_.Successors(block)) {
      bool leaves = next != target && (next == merge || IsExit(next, merge));
      if (leaves || !seen.insert(next).second) continue;
      if (next == target) return seen;
      pending.push_back(next);
    }
  }
  return seen;
}

// Cases in the order of their blocks; one that another falls into comes right after it. Each runs where the
// selector is one of its literals, or where the case before it has fallen through.
// Gives whether control may get past the switch.
bool ControlFlow::EmitSwitch(const Block& block) {
  Id merge = block.merge->At(0);
  std::vector<SwitchCase> cases = CasesOf(block);
  std::vector<ir::Value> conditions = ConditionsOf(cases, *block.terminator);
  ir::Value fell = Slot(ir::kI1);
  StoreSlot(fell, b_.Int(ir::kI1, 0));
  Scope scope;
  scope.kind = Scope::Kind::Switch;
  scope.merge = merge;
  OpenScope(scope);
  ir::Block region = b_.block();
  inlined().scopes.push_back(scope);
  bool falls = false, may_fall = false;
  for (size_t n = 0; n < cases.size(); ++n) {
    Id label = cases[n].first;
    ir::Value condition = conditions[n];
    if (may_fall) condition = b_.Make(Op::Or, {condition, LoadSlot(fell)});
    ir::Inst branch = b_.If(condition, {});
    b_.SetBlock(kernel_[branch].regions[0]);
    if (may_fall) {
      // A case that has fallen through has stored the values that the phis take from the case above.
      b_.When(b_.Make(Op::Not, {LoadSlot(fell)}), [&] { StoreEdge(block.label, label); });
      StoreSlot(fell, b_.Int(ir::kI1, 0));
    } else {
      StoreEdge(block.label, label);
    }
    Id next = n + 1 < cases.size() ? cases[n + 1].first : 0;
    if (label == merge) {
      falls = true;
    } else if (next != 0 && next != merge && ReachedFrom(label, merge, next).count(next) != 0) {
      // Control that reaches the next case falls into it.
      if (EmitFrom(0, label, next)) {
        StoreSlot(fell, b_.Int(ir::kI1, 1));
        may_fall = true;
      }
    } else {
      falls = EmitFrom(0, label, merge) || falls;
    }
    b_.CloseArms(branch);
    b_.SetBlock(region);
  }
  scope = inlined().scopes.back();
  inlined().scopes.pop_back();
  CloseScope(scope);
  return falls || scope.is_left;
}

}  // namespace adc::frontend::spirv

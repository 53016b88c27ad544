#include "analysis/conditions.h"

#include <algorithm>

namespace adc::analysis {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// Facts that are told apart.
constexpr size_t kMostFacts = 64;
/// Choices inside of choices; values of deeper ones say nothing.
constexpr uint32_t kMostDepth = 2;

/// Orders of floats are left out: neither one nor its opposite holds where an operand is NaN.
bool ComparesIntegers(const Function& f, Inst inst) {
  if (!inst.Valid() || !ir::IsCompare(f[inst].op)) return false;
  ir::Type type = f.TypeOf(f.Operand(inst, 0));
  return type.IsInteger() && type.IsScalar();
}

/// Whether two comparisons are the same, or opposite.
std::optional<bool> Agree(const Function& f, Inst a, Inst b) {
  if (!ComparesIntegers(f, a) || !ComparesIntegers(f, b)) return std::nullopt;
  Op op = f[b].op;
  Value left = f.Operand(b, 0), right = f.Operand(b, 1);
  if (f.Operand(a, 0) == right) {
    std::swap(left, right);
    op = ir::Mirrored(op);
  }
  if (f.Operand(a, 0) != left || f.Operand(a, 1) != right) return std::nullopt;
  if (f[a].op == op) return true;
  return f[a].op == ir::Inverted(op) ? std::optional(false) : std::nullopt;
}

std::optional<Order> OrderOf(const Function& f, const Fact& fact) {
  Inst inst = f.DefiningInst(fact.condition);
  if (!ComparesIntegers(f, inst)) return std::nullopt;
  Op op = fact.truth ? f[inst].op : ir::Inverted(f[inst].op);
  if (op == Op::Eq || op == Op::Ne) return std::nullopt;
  bool upward = op == Op::Lt || op == Op::Le;
  return Order{f.Operand(inst, upward ? 0 : 1), f.Operand(inst, upward ? 1 : 0),
               op == Op::Lt || op == Op::Gt};
}

}  // namespace

bool IsChoice(Op op) {
  return op == Op::If || op == Op::Select;
}

Value GivenBy(const Function& f, Inst choice, uint32_t region, Value result) {
  if (f[choice].op == Op::Select) return f.Operand(choice, region + 1);
  return f.Operand(f.Terminator(f[choice].regions[region]), f[result].number);
}

void Facts::Add(Value condition, bool truth) {
  all_.push_back({condition, truth});
  for (size_t next = all_.size() - 1; next < all_.size() && all_.size() < kMostFacts; ++next)
    all_[next].divided = Divide(all_[next]);
}

bool Facts::Divide(Fact fact) {
  const Function& f = *function_;
  Inst inst = f.DefiningInst(fact.condition);
  if (!inst.Valid()) return false;
  Op op = f[inst].op;
  if (op == Op::Not || op == (fact.truth ? Op::And : Op::Or)) {
    for (Value operand : f.Operands(inst)) all_.push_back({operand, fact.truth != (op == Op::Not)});
    return true;
  }
  if (!IsChoice(op)) return false;
  for (uint32_t region = 0; op == Op::If && region < 2; ++region)
    if (f[f.Terminator(f[inst].regions[region])].op != Op::Yield) return false;
  Facts one(f, depth_);
  one.all_ = {fact};
  for (uint32_t region = 0; region < 2; ++region) {
    if (!one.Exclude(inst, region)) continue;
    all_.push_back({f.Operand(inst, 0), region == 1});
    all_.push_back({GivenBy(f, inst, 1 - region, fact.condition), fact.truth});
    return true;
  }
  return false;
}

bool Facts::Exclude(Inst choice, uint32_t region) const {
  const Function& f = *function_;
  Value decider = f.Operand(choice, 0);
  if (std::optional<bool> taken = TruthOf(decider)) return *taken == (region == 1);
  return std::any_of(all_.begin(), all_.end(), [&](const Fact& fact) {
    if (f.DefiningInst(fact.condition) != choice) return false;
    Value given = GivenBy(f, choice, region, fact.condition);
    if (f.IsConstant(given)) return (f.ConstantOf(given).bits != 0) != fact.truth;
    if (depth_ == kMostDepth) return false;
    Facts here(f, depth_ + 1);
    here.Add(given, fact.truth);
    return here.TruthOf(decider) == (region == 1);
  });
}

Facts Facts::Inside(Inst choice, uint32_t region) const {
  Facts here = *this;
  here.Add(function_->Operand(choice, 0), region == 0);
  for (const Fact& fact : all_) {
    if (function_->DefiningInst(fact.condition) == choice)
      here.Add(GivenBy(*function_, choice, region, fact.condition), fact.truth);
  }
  return here;
}

std::optional<bool> Facts::TruthOf(Value condition) const {
  Inst inst = function_->DefiningInst(condition);
  for (const Fact& fact : all_) {
    if (fact.condition == condition) return fact.truth;
    if (std::optional<bool> same = Agree(*function_, inst, function_->DefiningInst(fact.condition)))
      return *same == fact.truth;
  }
  if (!inst.Valid() || (*function_)[inst].op != Op::Not) return std::nullopt;
  std::optional<bool> truth = TruthOf(function_->Operand(inst, 0));
  return truth ? std::optional(!*truth) : std::nullopt;
}

bool CollectOrders(const Structure& structure, Inst loop, Value condition, bool holds,
                   std::vector<Order>& orders) {
  Facts facts(structure.function());
  facts.Add(condition, holds);
  bool is_all = true;
  for (const Fact& fact : facts.all()) {
    std::optional<Order> order = OrderOf(structure.function(), fact);
    if (order) orders.push_back(*order);
    // A condition from outside lets all iterations through, or none.
    is_all = is_all && (order || fact.divided || structure.DefinedOutside(fact.condition, loop));
  }
  return is_all;
}

}  // namespace adc::analysis

// Why a normal form. A trip count is a difference of bounds, and bounds of nested loops share terms: `for k
// in i..i+n` runs `(i + n) - i` times. Hash-consing alone does not see that this is `n`; splitting both sides
// into constants and multiples of atoms does. An atom is any node that is not a sum: a parameter, a read, a
// product, a minimum.

#include "sizing/size_algebra.h"

#include <algorithm>
#include <unordered_map>

#include "support/check.h"

namespace adc::sizing {
namespace {

constexpr size_t kMaxTerms = 16;

}  // namespace

std::vector<NodeId> SizeAlgebra::Reachable(NodeId expr) const {
  std::vector<NodeId> found, pending;
  if (expr == kNoNode) return found;
  std::unordered_map<NodeId, bool> seen;
  auto visit = [&](NodeId node) {
    if (node != kNoNode && seen.try_emplace(node, true).second) pending.push_back(node);
  };
  visit(expr);
  while (!pending.empty()) {
    NodeId node = pending.back();
    pending.pop_back();
    found.push_back(node);
    for (NodeId operand : pool_[node].operands) visit(operand);
    for (NodeId index : pool_.ReadIndices(pool_[node])) visit(index);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool SizeAlgebra::Split(NodeId expr, int64_t factor, Sum* sum) const {
  const artifact::SizeNode& node = pool_[expr];
  int64_t constant = 0;
  if (pool_.IsConst(expr, &constant)) {
    int64_t product = 0;
    return !__builtin_mul_overflow(constant, factor, &product) &&
           !__builtin_add_overflow(sum->constant, product, &sum->constant);
  }
  if (node.op == SizeOp::kAdd) {
    return Split(node.operands[0], factor, sum) && Split(node.operands[1], factor, sum);
  }
  if (node.op == SizeOp::kSub && factor != INT64_MIN) {
    return Split(node.operands[0], factor, sum) && Split(node.operands[1], -factor, sum);
  }
  if (node.op == SizeOp::kNeg && factor != INT64_MIN) return Split(node.operands[0], -factor, sum);
  if (node.op == SizeOp::kMul) {
    for (int side = 0; side < 2; ++side) {
      if (!pool_.IsConst(node.operands[side], &constant)) continue;
      int64_t product = 0;
      if (__builtin_mul_overflow(constant, factor, &product)) return false;
      return Split(node.operands[1 - side], product, sum);
    }
  }
  auto place = std::lower_bound(sum->terms.begin(), sum->terms.end(), expr,
                                [](const Term& term, NodeId atom) { return term.atom < atom; });
  if (place == sum->terms.end() || place->atom != expr) {
    if (sum->terms.size() >= kMaxTerms) return false;
    sum->terms.insert(place, {expr, factor});
    return true;
  }
  if (__builtin_add_overflow(place->factor, factor, &place->factor)) return false;
  if (place->factor == 0) sum->terms.erase(place);
  return true;
}

NodeId SizeAlgebra::Join(const Sum& sum) {
  NodeId result = kNoNode;
  auto add = [&](NodeId term) { result = result == kNoNode ? term : pool_.Add(result, term); };
  for (const Term& term : sum.terms) {
    if (term.factor > 0) add(pool_.Mul(pool_.Const(term.factor), term.atom));
  }
  bool constant_used = false;
  if (result == kNoNode && (sum.constant != 0 || sum.terms.empty())) {
    add(pool_.Const(sum.constant));
    constant_used = true;
  }
  for (const Term& term : sum.terms) {
    if (term.factor >= 0) continue;
    if (term.factor == INT64_MIN || result == kNoNode) {
      add(pool_.Mul(pool_.Const(term.factor), term.atom));
    } else {
      result = pool_.Sub(result, pool_.Mul(pool_.Const(-term.factor), term.atom));
    }
  }
  if (constant_used || sum.constant == 0) return result;
  if (sum.constant < 0 && sum.constant != INT64_MIN) return pool_.Sub(result, pool_.Const(-sum.constant));
  return pool_.Add(result, pool_.Const(sum.constant));
}

NodeId SizeAlgebra::Combine(NodeId left, NodeId right, int64_t sign) {
  if (left == kNoNode || right == kNoNode) return kNoNode;
  Sum sum;
  if (Split(left, 1, &sum) && Split(right, sign, &sum)) return Join(sum);
  return sign > 0 ? pool_.Add(left, right) : pool_.Sub(left, right);
}

NodeId SizeAlgebra::Mul(NodeId left, NodeId right) {
  if (left == kNoNode || right == kNoNode) return kNoNode;
  int64_t factor = 0;
  if (pool_.IsConst(left)) std::swap(left, right);
  if (pool_.IsConst(right, &factor)) {
    Sum sum;
    if (factor != 0 && Split(left, factor, &sum)) return Join(sum);
    return pool_.Mul(left, right);
  }
  // Constant factors stand outside, so that `-d * n` and `d * n` cancel.
  int64_t common = 1;
  NodeId whole_left = left, whole_right = right;
  for (NodeId* side : {&left, &right}) {
    Sum sum;
    if (!Split(*side, 1, &sum) || sum.constant != 0 || sum.terms.size() != 1) continue;
    if (__builtin_mul_overflow(common, sum.terms[0].factor, &common))
      return pool_.Mul(whole_left, whole_right);
    *side = sum.terms[0].atom;
  }
  NodeId product = pool_.Mul(left, right);
  return common == 1 ? product : Mul(product, Const(common));
}

NodeId SizeAlgebra::Divide(SizeOp op, NodeId left, NodeId right) {
  if (left == kNoNode || right == kNoNode) return kNoNode;
  int64_t divisor = 0;
  Sum sum;
  if (pool_.IsConst(right, &divisor) && divisor > 0 && Split(left, 1, &sum)) {
    bool divides = sum.constant % divisor == 0;
    for (const Term& term : sum.terms) divides = divides && term.factor % divisor == 0;
    if (divides) {
      sum.constant /= divisor;
      for (Term& term : sum.terms) term.factor /= divisor;
      return Join(sum);
    }
  }
  return pool_.Binary(op, left, right);
}

NodeId SizeAlgebra::Min(NodeId left, NodeId right) {
  if (left == kNoNode || right == kNoNode) return kNoNode;
  ConstantRange gap = RangeOf(Sub(left, right));
  if (gap.high <= 0) return left;
  if (gap.low >= 0) return right;
  return pool_.Min(left, right);
}

NodeId SizeAlgebra::Max(NodeId left, NodeId right) {
  if (left == kNoNode || right == kNoNode) return kNoNode;
  ConstantRange gap = RangeOf(Sub(left, right));
  if (gap.high <= 0) return right;
  if (gap.low >= 0) return left;
  return pool_.Max(left, right);
}

NodeId SizeAlgebra::Clamp0(NodeId operand) {
  if (operand == kNoNode) return kNoNode;
  ConstantRange range = RangeOf(operand);
  if (range.low >= 0) return operand;
  if (range.high <= 0) return Const(0);
  return pool_.Clamp0(operand);
}

uint32_t SizeAlgebra::BoundLevels(NodeId expr) const {
  uint32_t levels = 0;
  for (NodeId id : Reachable(expr)) {
    if (pool_[id].op == SizeOp::kMaxOver || pool_[id].op == SizeOp::kSumOver) levels |= 1u << pool_[id].axis;
  }
  return levels;
}

NodeId SizeAlgebra::Substitute(NodeId expr, uint32_t level, NodeId replacement) {
  if (expr == kNoNode || replacement == kNoNode) return kNoNode;
  if (!DependsOnLevel(expr, level)) return expr;
  if ((BoundLevels(expr) & (pool_.FreeLevels(replacement) | (1u << level))) != 0) return kNoNode;
  return Rebuild(expr, level, replacement, false);
}

NodeId SizeAlgebra::Rebuild(NodeId expr, uint32_t level, NodeId replacement, bool spread) {
  std::unordered_map<NodeId, NodeId> done;
  auto of = [&](NodeId node) {
    auto found = done.find(node);
    return found == done.end() ? node : found->second;
  };
  for (NodeId id : Reachable(expr)) {
    if (!DependsOnLevel(id, level)) continue;
    artifact::SizeNode node = pool_[id];  // a copy: the pool grows below
    NodeId a = of(node.operands[0]), b = of(node.operands[1]), c = of(node.operands[2]);
    NodeId result = kNoNode;
    switch (node.op) {
      case SizeOp::kIndex:
        result = replacement == kNoNode ? id : replacement;
        break;
      case SizeOp::kRead: {
        std::vector<NodeId> indices;
        for (NodeId index : pool_.ReadIndices(node)) indices.push_back(of(index));
        result = pool_.Read(node.param, indices);
        break;
      }
      case SizeOp::kAdd:
        result = Add(a, b);
        break;
      case SizeOp::kSub:
        result = Sub(a, b);
        break;
      case SizeOp::kNeg:
        result = Neg(a);
        break;
      case SizeOp::kMul:
        result = Mul(a, b);
        break;
      case SizeOp::kDiv:
      case SizeOp::kFloorDiv:
      case SizeOp::kCeilDiv:
        result = Divide(node.op, a, b);
        break;
      case SizeOp::kMin:
        result = Min(a, b);
        break;
      case SizeOp::kMax:
        result = Max(a, b);
        break;
      case SizeOp::kClamp0:
        result = Clamp0(a);
        break;
      case SizeOp::kMod:
      case SizeOp::kEq:
      case SizeOp::kNe:
      case SizeOp::kLt:
      case SizeOp::kLe:
      case SizeOp::kGt:
      case SizeOp::kGe:
        result = pool_.Binary(node.op, a, b);
        break;
      case SizeOp::kSelect:
        result = pool_.Select(a, b, c);
        break;
      case SizeOp::kMaxOver:
        result = pool_.MaxOver(node.axis, a, b, c);
        break;
      case SizeOp::kSumOver:
        result = pool_.SumOver(node.axis, a, b, c);
        break;
      case SizeOp::kConst:
      case SizeOp::kArg:
      case SizeOp::kShape:
        ADC_UNREACHABLE("a leaf does not depend on a level");
    }
    if (result == kNoNode) return kNoNode;
    done[id] = spread ? Spread(result, level) : result;
  }
  return of(expr);
}

NodeId SizeAlgebra::Spread(NodeId expr, uint32_t level) {
  SizeOp op = pool_[expr].op;
  Sum sum;
  bool is_sum = op == SizeOp::kAdd || op == SizeOp::kSub || op == SizeOp::kNeg || op == SizeOp::kMul;
  if (!is_sum || !Split(expr, 1, &sum)) return expr;
  for (size_t n = 0; n < sum.terms.size(); ++n) {
    auto [atom, factor] = sum.terms[n];
    artifact::SizeNode node = pool_[atom];
    bool least = node.op == SizeOp::kMin;
    if (!least && node.op != SizeOp::kMax && node.op != SizeOp::kClamp0) continue;
    if (!DependsOnLevel(atom, level)) continue;
    Sum rest = sum;
    rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(n));
    NodeId others = Join(rest);
    if (!DependsOnLevel(others, level)) continue;
    auto moved = [&](NodeId side) {
      NodeId whole = Add(others, Mul(Const(factor), side));
      return whole == kNoNode ? kNoNode : Spread(whole, level);
    };
    NodeId left = moved(node.operands[0]);
    NodeId right = moved(node.op == SizeOp::kClamp0 ? Const(0) : node.operands[1]);
    if (left == kNoNode || right == kNoNode) return expr;
    return least == (factor > 0) ? Min(left, right) : Max(left, right);
  }
  return expr;
}

}  // namespace adc::sizing

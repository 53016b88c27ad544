#include "adstack/size_algebra.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "support/check.h"

// Why a normal form. A trip count is a difference of bounds, and bounds of nested loops share terms: `for k
// in i..i+n` runs `(i + n) - i` times. Hash-consing alone does not see that this is `n`; splitting both sides
// into constants and multiples of atoms does. An atom is any node that is not a sum: a parameter, a read, a
// product, a minimum.
//
// Why a direction. The maximum of a tape over an enclosing loop is needed at every launch. Where the
// expression only grows or only falls with the loop's index the maximum stands at one end, and no loop is
// left to evaluate: a triangular nest over a million rows is sized by one subtraction. Only what is neither
// (a product of two falling terms, an element of a buffer) keeps a `max_over`.

namespace adc::adstack {
namespace {

constexpr size_t kMaxTerms = 16;
constexpr int64_t kMaxPeriod = 1 << 16;

using Wide = __int128;

int64_t Saturate(Wide value) {
  if (value > INT64_MAX) return INT64_MAX;
  if (value < INT64_MIN) return INT64_MIN;
  return static_cast<int64_t>(value);
}

bool Unbounded(int64_t end) {
  return end == INT64_MIN || end == INT64_MAX;
}

ConstantRange AddRanges(ConstantRange a, ConstantRange b) {
  ConstantRange sum;
  if (a.low != INT64_MIN && b.low != INT64_MIN) sum.low = Saturate(Wide{a.low} + b.low);
  if (a.high != INT64_MAX && b.high != INT64_MAX) sum.high = Saturate(Wide{a.high} + b.high);
  return sum;
}

ConstantRange NegateRange(ConstantRange a) {
  return {a.high == INT64_MAX ? INT64_MIN : -a.high, a.low == INT64_MIN ? INT64_MAX : Saturate(-Wide{a.low})};
}

ConstantRange MultiplyRanges(ConstantRange a, ConstantRange b) {
  if (a.low >= 0 && b.low >= 0) {
    bool bounded = !Unbounded(a.high) && !Unbounded(b.high);
    return {Saturate(Wide{a.low} * b.low), bounded ? Saturate(Wide{a.high} * b.high) : INT64_MAX};
  }
  if (Unbounded(a.low) || Unbounded(a.high) || Unbounded(b.low) || Unbounded(b.high)) return {};
  Wide products[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low, Wide{a.high} * b.high};
  return {Saturate(*std::min_element(products, products + 4)),
          Saturate(*std::max_element(products, products + 4))};
}

ConstantRange JoinRanges(ConstantRange a, ConstantRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Direction Reverse(Direction direction) {
  if (direction == Direction::Rising) return Direction::Falling;
  if (direction == Direction::Falling) return Direction::Rising;
  return direction;
}

/// Of a function that grows with both of its arguments.
Direction Together(Direction a, Direction b) {
  if (a == Direction::Constant) return b;
  if (b == Direction::Constant || a == b) return a;
  return Direction::Unknown;
}

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

ConstantRange SizeAlgebra::ComputeRange(NodeId expr) const {
  const artifact::SizeNode& node = pool_[expr];
  auto of = [&](int operand) { return ranges_[node.operands[operand]]; };
  switch (node.op) {
    case SizeOp::kConst:
      return {node.value, node.value};
    case SizeOp::kArg:
    case SizeOp::kRead:
      return {};
    case SizeOp::kShape:
    case SizeOp::kIndex:
      return {0, INT64_MAX};
    case SizeOp::kAdd:
      return AddRanges(of(0), of(1));
    case SizeOp::kSub:
      return AddRanges(of(0), NegateRange(of(1)));
    case SizeOp::kNeg:
      return NegateRange(of(0));
    case SizeOp::kMul:
      return MultiplyRanges(of(0), of(1));
    case SizeOp::kDiv:
    case SizeOp::kFloorDiv:
    case SizeOp::kCeilDiv: {
      ConstantRange a = of(0), b = of(1);
      if (a.low >= 0 && b.low >= 0) return {0, a.high};
      return {};
    }
    case SizeOp::kMod: {
      ConstantRange divisor = of(1);
      if (divisor.low >= 0)
        return {0, divisor.high == INT64_MAX ? INT64_MAX : std::max<int64_t>(divisor.high - 1, 0)};
      return {};
    }
    case SizeOp::kMin:
      return {std::min(of(0).low, of(1).low), std::min(of(0).high, of(1).high)};
    case SizeOp::kMax:
      return {std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
    case SizeOp::kEq:
    case SizeOp::kNe:
    case SizeOp::kLt:
    case SizeOp::kLe:
    case SizeOp::kGt:
    case SizeOp::kGe:
      return {0, 1};
    case SizeOp::kClamp0:
      return {std::max<int64_t>(of(0).low, 0), std::max<int64_t>(of(0).high, 0)};
    case SizeOp::kSelect:
      return JoinRanges(of(1), of(2));
    case SizeOp::kMaxOver:
      return JoinRanges({0, 0}, of(2));
    case SizeOp::kSumOver:
      return {of(2).low >= 0 ? 0 : INT64_MIN, of(2).high <= 0 ? 0 : INT64_MAX};
  }
  ADC_UNREACHABLE("operation of a size expression");
}

ConstantRange SizeAlgebra::RangeOf(NodeId expr) const {
  if (expr == kNoNode) return {};
  while (ranges_.size() <= expr) ranges_.push_back(ComputeRange(static_cast<NodeId>(ranges_.size())));
  return ranges_[expr];
}

Direction SizeAlgebra::DirectionOf(NodeId expr, uint32_t level) const {
  if (!DependsOnLevel(expr, level)) return Direction::Constant;
  std::unordered_map<NodeId, Direction> known;
  auto of = [&](NodeId node) {
    auto found = known.find(node);
    return found == known.end() ? Direction::Constant : found->second;
  };
  for (NodeId id : Reachable(expr)) {
    if (!DependsOnLevel(id, level)) continue;
    const artifact::SizeNode& node = pool_[id];
    Direction a = node.operands[0] == kNoNode ? Direction::Constant : of(node.operands[0]);
    Direction b = node.operands[1] == kNoNode ? Direction::Constant : of(node.operands[1]);
    Direction c = node.operands[2] == kNoNode ? Direction::Constant : of(node.operands[2]);
    Direction result = Direction::Unknown;
    switch (node.op) {
      case SizeOp::kIndex:
        result = Direction::Rising;
        break;
      case SizeOp::kAdd:
      case SizeOp::kMin:
      case SizeOp::kMax:
        result = Together(a, b);
        break;
      case SizeOp::kSub:
        result = Together(a, Reverse(b));
        break;
      case SizeOp::kNeg:
        result = Reverse(a);
        break;
      case SizeOp::kClamp0:
        result = a;
        break;
      case SizeOp::kMul: {
        ConstantRange left = RangeOf(node.operands[0]), right = RangeOf(node.operands[1]);
        if (b == Direction::Constant && right.low >= 0) result = a;
        if (b == Direction::Constant && right.high <= 0) result = Reverse(a);
        if (a == Direction::Constant && left.low >= 0) result = b;
        if (a == Direction::Constant && left.high <= 0) result = Reverse(b);
        if (a != Direction::Constant && b != Direction::Constant && left.low >= 0 && right.low >= 0)
          result = Together(a, b);
        break;
      }
      case SizeOp::kDiv:
      case SizeOp::kFloorDiv:
      case SizeOp::kCeilDiv:
        if (b == Direction::Constant && RangeOf(node.operands[1]).low >= 0) result = a;
        break;
      case SizeOp::kSelect:
        if (a == Direction::Constant) result = Together(b, c);
        // A condition that switches once, to the larger side or to the smaller.
        if ((a == Direction::Rising || a == Direction::Falling) && c == Direction::Constant &&
            RangeOf(node.operands[1]).low >= RangeOf(node.operands[2]).high)
          result = Together(a, b);
        break;
      case SizeOp::kMaxOver:
      case SizeOp::kSumOver:
        if (RangeOf(node.operands[2]).low >= 0) result = Together(Together(Reverse(a), b), c);
        break;
      case SizeOp::kLt:
      case SizeOp::kLe:
        result = Together(Reverse(a), b);
        break;
      case SizeOp::kGt:
      case SizeOp::kGe:
        result = Together(a, Reverse(b));
        break;
      case SizeOp::kConst:
      case SizeOp::kArg:
      case SizeOp::kShape:
      case SizeOp::kRead:
      case SizeOp::kMod:
      case SizeOp::kEq:
      case SizeOp::kNe:
        break;
    }
    known[id] = result;
  }
  return of(expr);
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
    NodeId a = node.operands[0] == kNoNode ? kNoNode : of(node.operands[0]);
    NodeId b = node.operands[1] == kNoNode ? kNoNode : of(node.operands[1]);
    NodeId c = node.operands[2] == kNoNode ? kNoNode : of(node.operands[2]);
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

uint32_t SizeAlgebra::FreshLevel(uint32_t wanted, NodeId first, NodeId second) const {
  uint32_t taken = BoundLevels(first) | BoundLevels(second);
  if ((taken >> wanted & 1) == 0) return wanted;
  taken |= pool_.FreeLevels(first) | pool_.FreeLevels(second);
  for (uint32_t level = artifact::kMaxSizeLevels; level-- > 0;) {
    if ((taken >> level & 1) == 0) return level;
  }
  return artifact::kMaxSizeLevels;
}

int64_t SizeAlgebra::PeriodOf(NodeId body, uint32_t level) const {
  // A node repeats itself when all operands that depend on the index do. A sum in the index repeats under
  // `mod c` after c steps; anywhere else it does not.
  std::unordered_map<NodeId, int64_t> periods;
  for (NodeId id : Reachable(body)) {
    if (!DependsOnLevel(id, level)) continue;
    const artifact::SizeNode& node = pool_[id];
    int64_t period = 0, divisor = 0;
    if (node.op == SizeOp::kMod && pool_.IsConst(node.operands[1], &divisor) && divisor > 0 &&
        divisor <= kMaxPeriod) {
      Sum sum;
      bool linear = Split(node.operands[0], 1, &sum);
      for (const Term& term : sum.terms) {
        linear = linear && (pool_[term.atom].op == SizeOp::kIndex || !DependsOnLevel(term.atom, level));
      }
      if (linear) period = divisor;
    }
    if (period == 0 && node.op != SizeOp::kIndex) {
      period = 1;
      auto take = [&](NodeId operand) {
        if (operand == kNoNode || !DependsOnLevel(operand, level) || period == 0) return;
        int64_t own = periods[operand];
        period = own == 0 ? 0 : std::lcm(period, own);
        if (period > kMaxPeriod) period = 0;
      };
      for (NodeId operand : node.operands) take(operand);
      for (NodeId operand : pool_.ReadIndices(node)) take(operand);
    }
    periods[id] = period;
  }
  return periods[body];
}

NodeId SizeAlgebra::WhereNotEmpty(NodeId trips, NodeId value) {
  if (trips == kNoNode || value == kNoNode || value == trips) return value;
  if (RangeOf(trips).low > 0) return value;
  int64_t gap = 0;
  if (pool_.IsConst(Sub(value, trips), &gap) && gap == -1) return Clamp0(value);  // trips - 1, the last index
  NodeId inner = trips;  // a clamped count is positive exactly where what it clamps is
  while (pool_[inner].op == SizeOp::kClamp0 || pool_[inner].op == SizeOp::kCeilDiv)
    inner = pool_[inner].operands[0];
  return pool_.Select(pool_.Binary(SizeOp::kGt, inner, Const(0)), value, Const(0));
}

NodeId SizeAlgebra::MaxOver(uint32_t level, NodeId trips, NodeId body, bool when_empty_zero) {
  if (body == kNoNode) return kNoNode;
  NodeId result = kNoNode;
  Direction direction = level < artifact::kMaxSizeLevels ? DirectionOf(body, level) : Direction::Constant;
  if (direction == Direction::Unknown && (BoundLevels(body) >> level & 1) == 0) {
    // `i * s + min(s, n - i * s)` rises: it is the smaller one of two sums that do.
    NodeId spread = Rebuild(body, level, kNoNode, true);
    Direction known = spread == kNoNode ? Direction::Unknown : DirectionOf(spread, level);
    if (known != Direction::Unknown) {
      body = spread;
      direction = known;
    }
  }
  if (direction == Direction::Constant) result = body;
  if (direction == Direction::Falling) result = Substitute(body, level, Const(0));
  if (trips != kNoNode) {
    if (direction == Direction::Rising) result = Substitute(body, level, Sub(trips, Const(1)));
    if (result == kNoNode) {
      NodeId count = trips;
      if (int64_t period = PeriodOf(body, level)) count = Min(count, Const(period));
      uint32_t own = FreshLevel(level, body, count);
      if (own == artifact::kMaxSizeLevels) return kNoNode;
      if (own != level) body = Substitute(body, level, pool_.Index(own));
      return pool_.MaxOver(own, Const(0), count, body);
    }
  }
  return when_empty_zero ? WhereNotEmpty(trips, result) : result;
}

NodeId SizeAlgebra::SumBelow(uint32_t level, NodeId count, NodeId body) {
  if (body == kNoNode || count == kNoNode) return kNoNode;
  if (level >= artifact::kMaxSizeLevels || !DependsOnLevel(body, level)) return Mul(count, body);
  Sum sum, rest;
  if (Split(body, 1, &sum)) {
    bool linear = true;
    int64_t slope = 0;
    rest.constant = sum.constant;
    for (const Term& term : sum.terms) {
      if (!DependsOnLevel(term.atom, level)) {
        rest.terms.push_back(term);
      } else if (pool_[term.atom].op == SizeOp::kIndex) {
        slope = term.factor;
      } else {
        linear = false;
      }
    }
    if (linear) {  // sum of rest + slope * i for i < count
      NodeId pairs = Divide(SizeOp::kDiv, pool_.Mul(count, Sub(count, Const(1))), Const(2));
      return Add(Mul(count, Join(rest)), Mul(Const(slope), pairs));
    }
  }
  // The count may speak of the same index (the partial sum inside a loop): the sum then runs over a level of
  // its own.
  uint32_t own = level;
  if (DependsOnLevel(count, level) || (BoundLevels(body) >> level & 1) != 0) {
    uint32_t taken =
        BoundLevels(body) | BoundLevels(count) | pool_.FreeLevels(body) | pool_.FreeLevels(count);
    own = artifact::kMaxSizeLevels;
    while (own > 0 && (taken >> (own - 1) & 1) != 0) --own;
    if (own == 0) return kNoNode;
    --own;
    body = Substitute(body, level, pool_.Index(own));
  }
  return pool_.SumOver(own, Const(0), count, body);
}

void CompactPool(const SizeExprPool& from, SizeExprPool& to, std::span<NodeId* const> roots) {
  std::vector<NodeId> map(from.size(), kNoNode);
  std::vector<NodeId> pending;
  for (NodeId* root : roots) {
    if (*root == kNoNode) continue;
    pending.push_back(*root);
    while (!pending.empty()) {
      NodeId id = pending.back();
      if (map[id] != kNoNode) {
        pending.pop_back();
        continue;
      }
      artifact::SizeNode node = from[id];
      std::vector<NodeId> indices;
      bool ready = true;
      auto take = [&](NodeId operand) {
        if (map[operand] == kNoNode) {
          pending.push_back(operand);
          ready = false;
        }
        return map[operand];
      };
      for (NodeId& operand : node.operands) {
        if (operand != kNoNode) operand = take(operand);
      }
      for (NodeId index : from.ReadIndices(node)) indices.push_back(take(index));
      if (!ready) continue;
      pending.pop_back();
      map[id] = static_cast<NodeId>(to.size());
      bool added = to.AppendChecked(node, indices, nullptr);
      ADC_CHECK(added, "a node of one pool fits another");
    }
    *root = map[*root];
  }
}

}  // namespace adc::adstack

// Why a direction. The maximum of a tape over an enclosing loop is needed at every launch. Where the
// expression only grows or only falls with the loop's index the maximum stands at one end, and no loop is
// left to evaluate: a triangular nest over a million rows is sized by one subtraction. Only what is neither
// (a product of two falling terms, an element of a buffer) keeps a `max_over`.

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "sizing/size_algebra.h"
#include "support/check.h"

namespace adc::sizing {
namespace {

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
    Direction a = of(node.operands[0]), b = of(node.operands[1]), c = of(node.operands[2]);
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

uint32_t SizeAlgebra::UnusedLevel(NodeId first, NodeId second) const {
  uint32_t taken =
      BoundLevels(first) | BoundLevels(second) | pool_.FreeLevels(first) | pool_.FreeLevels(second);
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
      bool bound_inside = ((BoundLevels(body) | BoundLevels(count)) >> level & 1) != 0;
      uint32_t own = bound_inside ? UnusedLevel(body, count) : level;
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
    own = UnusedLevel(body, count);
    if (own == artifact::kMaxSizeLevels) return kNoNode;
    body = Substitute(body, level, pool_.Index(own));
  }
  return pool_.SumOver(own, Const(0), count, body);
}

}  // namespace adc::sizing

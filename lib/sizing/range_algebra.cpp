#include "sizing/range_algebra.h"

// Interval arithmetic on ranges whose ends are expressions. An operation on exact operands is exact;
// otherwise each end is bounded by itself, and an end that nothing bounds is unknown.

namespace adc::sizing {

using ir::Op, ir::Scalar;

Range RangeAlgebra::Union(Range a, Range b) {
  if (a.Exact() && b.Exact() && a.lower == b.lower) return a;
  return {algebra_.Min(a.lower, b.lower), algebra_.Max(a.upper, b.upper)};
}

Range RangeAlgebra::Choose(Range condition, Range if_true, Range if_false) {
  if (!condition.Exact()) return Union(if_true, if_false);
  if (if_true.Exact() && if_false.Exact())
    return Range::Exactly(algebra_.pool().Select(condition.lower, if_true.lower, if_false.lower));
  return {algebra_.pool().Select(condition.lower, if_true.lower, if_false.lower),
          algebra_.pool().Select(condition.lower, if_true.upper, if_false.upper)};
}

Range RangeAlgebra::Sum(Range a, Range b) {
  if (a.Exact() && b.Exact()) return Range::Exactly(algebra_.Add(a.lower, b.lower));
  return {algebra_.Add(a.lower, b.lower), algebra_.Add(a.upper, b.upper)};
}

Range RangeAlgebra::Difference(Range a, Range b, Scalar scalar) {
  Range range{algebra_.Sub(a.lower, b.upper), algebra_.Sub(a.upper, b.lower)};
  if (a.Exact() && b.Exact()) range = Range::Exactly(range.lower);
  // Below zero an unsigned difference wraps to something large.
  if (ir::IsUnsigned(scalar) && algebra_.RangeOf(range.lower).low < 0) return {};
  return range;
}

Range RangeAlgebra::Magnitude(Range a) {
  NodeId largest = algebra_.Max(a.upper, algebra_.Neg(a.lower));
  return a.Exact() ? Range::Exactly(largest) : Range{algebra_.Const(0), largest};
}

Range RangeAlgebra::Product(Range a, Range b) {
  if (a.Exact() && b.Exact()) return Range::Exactly(algebra_.Mul(a.lower, b.lower));
  bool a_positive = algebra_.RangeOf(a.lower).low >= 0, b_positive = algebra_.RangeOf(b.lower).low >= 0;
  if (a_positive && b_positive) return {algebra_.Mul(a.lower, b.lower), algebra_.Mul(a.upper, b.upper)};
  for (bool swap : {false, true}) {
    Range value = swap ? b : a, factor = swap ? a : b;
    if (!factor.Exact() || algebra_.RangeOf(factor.lower).low < 0) continue;
    return {algebra_.Mul(value.lower, factor.lower), algebra_.Mul(value.upper, factor.lower)};
  }
  NodeId products[] = {algebra_.Mul(a.lower, b.lower), algebra_.Mul(a.lower, b.upper),
                       algebra_.Mul(a.upper, b.lower), algebra_.Mul(a.upper, b.upper)};
  Range range{products[0], products[0]};
  for (NodeId product : products) {
    range.lower = algebra_.Min(range.lower, product);
    range.upper = algebra_.Max(range.upper, product);
  }
  return range;
}

Range RangeAlgebra::Quotient(SizeOp op, Range a, Range b) {
  if (a.Exact() && b.Exact()) return Range::Exactly(algebra_.Divide(op, a.lower, b.lower));
  ConstantRange divisor = algebra_.RangeOf(b.lower);
  if (b.Exact() && divisor.low > 0)
    return {algebra_.Divide(op, a.lower, b.lower), algebra_.Divide(op, a.upper, b.lower)};
  // By zero gives 0, by anything else nothing larger than the dividend.
  NodeId zero = algebra_.Const(0);
  if (algebra_.RangeOf(a.lower).low >= 0 && divisor.low >= 0) return {zero, a.upper};
  NodeId largest = algebra_.Max(algebra_.Clamp0(a.upper), algebra_.Neg(algebra_.Min(a.lower, zero)));
  return {algebra_.Neg(largest), largest};
}

Range RangeAlgebra::RoundedUp(Range a, Range b) {
  if (algebra_.RangeOf(b.lower).low >= 0) return Quotient(SizeOp::kCeilDiv, a, b);
  // Size expressions round up by positive divisors only: minus the quotient of the negated, rounded down.
  Range negated =
      a.Exact() ? Range::Exactly(algebra_.Neg(a.lower)) : Range{algebra_.Neg(a.upper), algebra_.Neg(a.lower)};
  Range down = Quotient(SizeOp::kFloorDiv, negated, b);
  if (down.Exact()) return Range::Exactly(algebra_.Neg(down.lower));
  return {algebra_.Neg(down.upper), algebra_.Neg(down.lower)};
}

Range RangeAlgebra::Remainder(Op op, Range a, Range b) {
  bool positive = algebra_.RangeOf(a.lower).low >= 0;
  ConstantRange divisor = algebra_.RangeOf(b.lower);
  NodeId zero = algebra_.Const(0);
  if (a.Exact() && b.Exact()) {
    if (op == Op::Mod || (positive && divisor.low > 0))
      return Range::Exactly(algebra_.pool().Binary(SizeOp::kMod, a.lower, b.lower));
    NodeId whole = algebra_.Mul(b.lower, algebra_.Divide(SizeOp::kDiv, a.lower, b.lower));
    NodeId divides = algebra_.pool().Binary(SizeOp::kNe, b.lower, zero);
    return Range::Exactly(algebra_.pool().Select(divides, algebra_.Sub(a.lower, whole), zero));
  }
  if (b.lower == kNoNode || divisor.low < 0) return {};
  NodeId most = algebra_.Clamp0(algebra_.Sub(b.upper, algebra_.Const(1)));
  if (op == Op::Mod) return {zero, most};
  if (!positive) return {algebra_.Neg(most), most};
  return {zero, Smaller({zero, a.upper}, {zero, most}).upper};
}

Range RangeAlgebra::Smaller(Range a, Range b) {
  if (a.Exact() && b.Exact()) return Range::Exactly(algebra_.Min(a.lower, b.lower));
  NodeId upper = algebra_.Min(a.upper, b.upper);
  if (upper == kNoNode) upper = a.upper == kNoNode ? b.upper : a.upper;
  return {algebra_.Min(a.lower, b.lower), upper};
}

Range RangeAlgebra::Larger(Range a, Range b) {
  if (a.Exact() && b.Exact()) return Range::Exactly(algebra_.Max(a.lower, b.lower));
  NodeId lower = algebra_.Max(a.lower, b.lower);
  if (lower == kNoNode) lower = a.lower == kNoNode ? b.lower : a.lower;
  return {lower, algebra_.Max(a.upper, b.upper)};
}

std::optional<bool> RangeAlgebra::Decided(SizeOp op, Range a, Range b) const {
  int64_t low_a = algebra_.RangeOf(a.lower).low, high_a = algebra_.RangeOf(a.upper).high;
  int64_t low_b = algebra_.RangeOf(b.lower).low, high_b = algebra_.RangeOf(b.upper).high;
  // The ends of int64 mean "no bound": a number of u64 may be beyond.
  bool not_above = high_a <= low_b && high_a != INT64_MAX && low_b != INT64_MIN;
  bool not_below = high_b <= low_a && high_b != INT64_MAX && low_a != INT64_MIN;
  bool below = high_a < low_b, above = high_b < low_a;
  auto choose = [](bool holds, bool fails) {
    return holds ? std::optional(true) : fails ? std::optional(false) : std::nullopt;
  };
  if (op == SizeOp::kLt) return choose(below, not_below);
  if (op == SizeOp::kLe) return choose(not_above, above);
  if (op == SizeOp::kGt) return choose(above, not_above);
  if (op == SizeOp::kGe) return choose(not_below, below);
  if (op == SizeOp::kEq) return choose(false, below || above);
  if (op == SizeOp::kNe) return choose(below || above, false);
  return std::nullopt;
}

Range RangeAlgebra::Compared(SizeOp op, Range a, Range b) {
  if (std::optional<bool> known = Decided(op, a, b)) return Range::Exactly(algebra_.Const(*known ? 1 : 0));
  if (!a.Exact() || !b.Exact()) return {};
  return Range::Exactly(algebra_.pool().Binary(op, a.lower, b.lower));
}

Range RangeAlgebra::Bits(Op op, Range a, Range b, Scalar scalar) {
  SizeExprPool& pool = algebra_.pool();
  if (scalar == Scalar::I1) {
    SizeOp logical = op == Op::And ? SizeOp::kMin : (op == Op::Or ? SizeOp::kMax : SizeOp::kNe);
    return Compared(logical, a, b);
  }
  NodeId zero = algebra_.Const(0);
  bool a_positive = a.lower != kNoNode && algebra_.RangeOf(a.lower).low >= 0;
  bool b_positive = b.lower != kNoNode && algebra_.RangeOf(b.lower).low >= 0;
  if (op == Op::And) {
    for (bool swap : {false, true}) {
      Range value = swap ? b : a, mask = swap ? a : b;
      int64_t ones = 0;
      if (!mask.Exact() || !value.Exact() || !pool.IsConst(mask.lower, &ones)) continue;
      // A mask of low ones takes the remainder by a power of two, of negative numbers as well.
      if (ones >= 0 && ones < INT64_MAX && (ones & (ones + 1)) == 0)
        return Range::Exactly(pool.Binary(SizeOp::kMod, value.lower, algebra_.Const(ones + 1)));
    }
    if (a_positive && b_positive) return {zero, Smaller(a, b).upper};
    if (a_positive) return {zero, a.upper};
    return b_positive ? Range{zero, b.upper} : Range{};
  }
  if (!a_positive || !b_positive) return {};
  NodeId most = algebra_.Add(a.upper, b.upper);
  return {op == Op::Or ? algebra_.Max(a.lower, b.lower) : zero, most};
}

Range RangeAlgebra::Shifted(Op op, Range a, Range b, Scalar scalar) {
  int64_t count = 0;
  bool known = b.Exact() && algebra_.pool().IsConst(b.lower, &count) && count >= 0 && count < 31 &&
               count < ir::BitWidth(scalar);
  bool positive = a.lower != kNoNode && algebra_.RangeOf(a.lower).low >= 0;
  if (known && op == Op::Shl) return Product(a, Range::Exactly(algebra_.Const(int64_t{1} << count)));
  if (op == Op::Shl) return {};
  if (known && (positive || ir::IsSigned(scalar)))
    return Quotient(SizeOp::kFloorDiv, a, Range::Exactly(algebra_.Const(int64_t{1} << count)));
  return positive ? Range{algebra_.Const(0), a.upper} : Range{};
}

Range RangeAlgebra::Converted(Range range, ir::Type from, Scalar to) {
  if (!from.IsScalar() || ir::IsFloat(from.scalar)) return {};
  if (to == Scalar::I1) {
    if (!range.Exact() || from.scalar == Scalar::I1) return range;
    return Range::Exactly(algebra_.pool().Binary(SizeOp::kNe, range.lower, algebra_.Const(0)));
  }
  if (ir::IsUnsigned(to) && algebra_.RangeOf(range.lower).low < 0) {
    bool is_uniform = range.Exact() && algebra_.pool().FreeLevels(range.lower) == 0;
    if (!is_uniform || ir::BitWidth(to) == 64) return {};
    return Range::Exactly(algebra_.Wrap(range.lower, 0, int64_t{1} << ir::BitWidth(to)));
  }
  bool narrows = ir::BitWidth(from.scalar) == 64 || ir::IsUnsigned(from.scalar);
  if (to != Scalar::I32 || !narrows || ir::BitWidth(from.scalar) < 32 || !range.Exact()) return range;
  // A value that is the same in all iterations costs nothing to wrap; indices are assumed never to be so
  // long.
  bool is_extent = algebra_.pool()[range.lower].op == SizeOp::kShape;
  if (is_extent || algebra_.pool().FreeLevels(range.lower) != 0) return range;
  ConstantRange known = algebra_.RangeOf(range.lower);
  if (known.low >= INT32_MIN && known.high <= INT32_MAX) return range;
  return Range::Exactly(algebra_.Wrap(range.lower, INT32_MIN, int64_t{1} << 32));
}

NodeId RangeAlgebra::Length(NodeId low, NodeId high, Scalar scalar, bool is_exact) {
  SizeExprPool& pool = algebra_.pool();
  NodeId length = algebra_.Sub(high, low);
  if (length == kNoNode || low == algebra_.Const(0)) return algebra_.Clamp0(length);
  bool is_narrow = ir::BitWidth(scalar) < 64;
  auto is_sum = [&](NodeId node) {
    SizeOp op = pool[node].op;
    return op == SizeOp::kAdd || op == SizeOp::kSub || op == SizeOp::kNeg || op == SizeOp::kMul;
  };
  auto may_wrap = [&](NodeId node) {
    ConstantRange range = algebra_.RangeOf(node);
    bool fits = is_narrow ? range.low >= INT32_MIN && range.high <= INT32_MAX
                          : range.low != INT64_MIN && range.high != INT64_MAX;
    return is_sum(node) && !fits;
  };
  // On a constant, a number of 32 bits wraps only where the loop runs 2^31 times.
  bool is_hidden = is_exact && (may_wrap(low) || may_wrap(high)) && !(is_narrow && pool.IsConst(low));
  // What differs from iteration to iteration has to stay a sum, of which maxima are known.
  bool is_far_below = !is_narrow && is_sum(length) && algebra_.RangeOf(length).low == INT64_MIN &&
                      (pool.FreeLevels(low) | pool.FreeLevels(high)) == 0;
  if (!is_hidden && !is_far_below) return algebra_.Clamp0(length);
  for (NodeId* end : {&low, &high}) {
    if (is_narrow && may_wrap(*end)) *end = algebra_.Wrap(*end, INT32_MIN, int64_t{1} << 32);
  }
  return pool.Sub(pool.Max(low, high), low);
}

Range RangeAlgebra::FitType(ir::Type type, Range range, bool may_wrap) {
  int64_t bits = ir::BitWidth(type.scalar);
  bool is_signed = ir::IsSigned(type.scalar);
  if (bits == 64) {
    // No expression can hold that.
    if (may_wrap) range = {};
    if (!is_signed && range.lower == kNoNode) range.lower = algebra_.Const(0);
    return range;
  }
  int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  int64_t high = low + (int64_t{1} << bits) - 1;
  if (range.Exact() && algebra_.pool()[range.lower].op != SizeOp::kConst) {
    SizeOp op = algebra_.pool()[range.lower].op;
    if (op == SizeOp::kArg || op == SizeOp::kRead) return range;  // of this type as they stand
  }
  ConstantRange lower = algebra_.RangeOf(range.lower), upper = algebra_.RangeOf(range.upper);
  if (range.lower != kNoNode && range.upper != kNoNode && lower.low >= low && upper.high <= high)
    return range;
  if (bits == 32) {
    bool is_far = (range.lower != kNoNode && lower.low != INT64_MIN && lower.low < low) ||
                  (range.upper != kNoNode && upper.high != INT64_MAX && upper.high > high);
    if (!may_wrap && !is_far) {
      if (!is_signed && range.lower == kNoNode) range.lower = algebra_.Const(0);
      return range;
    }
    if (range.Exact()) return Range::Exactly(algebra_.Wrap(range.lower, low, int64_t{1} << bits));
  }
  return {algebra_.Const(low), algebra_.Const(high)};
}

}  // namespace adc::sizing

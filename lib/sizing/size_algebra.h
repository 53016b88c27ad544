#pragma once
// Algebra on size expressions: sums in a normal form (size_algebra.cpp), direction of growth, and taking the
// maximum over a loop (size_growth.cpp).

#include <vector>

#include "artifact/size_expr.h"

namespace adc::sizing {

using artifact::kNoNode, artifact::NodeId, artifact::SizeExprPool, artifact::SizeOp;

/// How an expression moves when one loop index grows.
enum class Direction : uint8_t { Constant, Rising, Falling, Unknown };

/// Constants between which an expression lies, whatever the launch. The ends of int64 mean "no bound".
struct ConstantRange {
  int64_t low = INT64_MIN;
  int64_t high = INT64_MAX;
};

/// Builds expressions in one pool. Loop indices count iterations from 0, so `index(L) >= 0` always. An
/// operand that is unknown (kNoNode) makes the result unknown. All arithmetic is exact; the evaluator reports
/// an error where a result overflows 64 bits at a launch.
class SizeAlgebra {
 public:
  explicit SizeAlgebra(SizeExprPool& pool) : pool_(pool) {}
  SizeExprPool& pool() { return pool_; }

  NodeId Const(int64_t value) { return pool_.Const(value); }
  /// Sums, differences and multiples by constants meet in one normal form, so that `(i + n) - i` is `n`.
  NodeId Add(NodeId left, NodeId right) { return Combine(left, right, 1); }
  NodeId Sub(NodeId left, NodeId right) { return Combine(left, right, -1); }
  NodeId Neg(NodeId operand) { return Sub(Const(0), operand); }
  NodeId Mul(NodeId left, NodeId right);
  /// Div, FloorDiv or CeilDiv; exact where a constant divides every term.
  NodeId Divide(SizeOp op, NodeId left, NodeId right);
  NodeId Min(NodeId left, NodeId right);
  NodeId Max(NodeId left, NodeId right);
  NodeId Clamp0(NodeId operand);
  /// `operand` as an integer holds it whose smallest number is `low` and which has `count` numbers.
  NodeId Wrap(NodeId operand, int64_t low, int64_t count) {
    return Add(pool_.Mod(Sub(operand, Const(low)), Const(count)), Const(low));
  }

  /// `expr` with index(level) replaced. Unknown where a loop inside `expr` would capture an index of the
  /// replacement.
  NodeId Substitute(NodeId expr, uint32_t level, NodeId replacement);
  Direction DirectionOf(NodeId expr, uint32_t level) const;
  ConstantRange RangeOf(NodeId expr) const;
  bool DependsOnLevel(NodeId expr, uint32_t level) const {
    return expr != kNoNode && (pool_.FreeLevels(expr) >> level & 1) != 0;
  }

  /// Maximum of `body` over index(level) in [0, trips). Without a loop where the direction is known: the
  /// maximum of `n - i` is at i = 0. With a loop of one period where the index stands only under `mod` by
  /// constants. Where the range may be empty and `when_empty_zero` is set, the result is then 0; else it may
  /// be anything. `trips` may be unknown; the result is then unknown unless the largest value stands at index
  /// 0.
  NodeId MaxOver(uint32_t level, NodeId trips, NodeId body, bool when_empty_zero);
  /// The same for the minimum; anything where the range is empty.
  NodeId MinOver(uint32_t level, NodeId trips, NodeId body) {
    return Neg(MaxOver(level, trips, Neg(body), false));
  }
  /// Sum of `body` over index(level) in [0, count), for count >= 0; closed form where `body` is linear in the
  /// index.
  NodeId SumBelow(uint32_t level, NodeId count, NodeId body);
  /// `value` where `trips` is positive, else 0.
  NodeId WhereNotEmpty(NodeId trips, NodeId value);

 private:
  struct Term {
    NodeId atom;
    int64_t factor;
  };
  /// constant + sum of factor * atom, atoms ascending.
  struct Sum {
    int64_t constant = 0;
    std::vector<Term> terms;
  };
  bool Split(NodeId expr, int64_t factor, Sum* sum) const;
  NodeId Join(const Sum& sum);
  NodeId Combine(NodeId left, NodeId right, int64_t sign);
  /// Every node that `expr` reaches, ascending: operands before users.
  std::vector<NodeId> Reachable(NodeId expr) const;
  /// Levels that loops inside `expr` bind.
  uint32_t BoundLevels(NodeId expr) const;
  /// A period of `body` in index(level), or 0.
  int64_t PeriodOf(NodeId body, uint32_t level) const;
  /// A level that is neither free nor bound in the two expressions; kMaxSizeLevels where all are taken.
  uint32_t UnusedLevel(NodeId first, NodeId second) const;
  ConstantRange ComputeRange(NodeId expr) const;
  /// `expr` with index(level) replaced where `replacement` is known; where `spread`, sums go into minima and
  /// maxima.
  NodeId Rebuild(NodeId expr, uint32_t level, NodeId replacement, bool spread);
  /// A sum of a minimum or maximum and of other terms that move with the index, as the minimum or maximum of
  /// two sums; else `expr`.
  NodeId Spread(NodeId expr, uint32_t level);

  SizeExprPool& pool_;
  mutable std::vector<ConstantRange> ranges_;  ///< of the pool's first nodes
};

}  // namespace adc::sizing

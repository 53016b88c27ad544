#pragma once
// Interval arithmetic on ranges whose ends are size expressions.

#include <optional>

#include "ir/op.h"
#include "ir/type.h"
#include "sizing/size_algebra.h"

namespace adc::sizing {

/// Where a value lies, point by point: for every iteration of the enclosing loops, whose indices stand in the
/// expressions as index(level). Either end may be unknown (kNoNode). A value that is known exactly has one
/// node at both ends.
struct Range {
  NodeId lower = kNoNode;
  NodeId upper = kNoNode;

  static Range Exactly(NodeId node) { return {node, node}; }
  bool Exact() const { return lower == upper && lower != kNoNode; }
};

class RangeAlgebra {
 public:
  explicit RangeAlgebra(SizeAlgebra& algebra) : algebra_(algebra) {}

  Range Union(Range a, Range b);
  Range Choose(Range condition, Range if_true, Range if_false);
  Range Sum(Range a, Range b);
  Range Difference(Range a, Range b, ir::Scalar scalar);
  Range Magnitude(Range a);
  Range Product(Range a, Range b);
  Range Quotient(SizeOp op, Range a, Range b);
  /// The quotient rounded up, by divisors of any sign.
  Range RoundedUp(Range a, Range b);
  Range Remainder(ir::Op op, Range a, Range b);
  Range Smaller(Range a, Range b);
  Range Larger(Range a, Range b);
  Range Compared(SizeOp op, Range a, Range b);
  Range Bits(ir::Op op, Range a, Range b, ir::Scalar scalar);
  Range Shifted(ir::Op op, Range a, Range b, ir::Scalar scalar);
  Range Converted(Range range, ir::Type from, ir::Scalar to);
  /// How far `high` lies above `low`, 0 where it does not, however far below it is. Where `is_exact`, ends
  /// that wrap do not cancel: of 32 bits they wrap in the expression too, of 64 the evaluator refuses them.
  NodeId Length(NodeId low, NodeId high, ir::Scalar scalar, bool is_exact);
  /// What a value of `type` is that is computed so. `may_wrap`: it may leave the type by far.
  Range FitType(ir::Type type, Range range, bool may_wrap);

 private:
  /// Whether the comparison holds, where constants that bound both sides say it.
  std::optional<bool> Decided(SizeOp op, Range a, Range b) const;

  SizeAlgebra& algebra_;
};

}  // namespace adc::sizing

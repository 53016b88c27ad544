#pragma once
// The strong zero: a product with an adjoint or tangent of 0 is 0, even if the partial derivative is infinite
// or NaN.
//
//   %is_zero = eq %s, 0.0 either     %d = select %is_zero, 0.0, %scaled
//
// Where the product is added to a sum, the sum is chosen, so that the two may become an fma:
//
//   %more = add %sum, %scaled     %d = select %is_zero, %sum, %more
//
// Both outcomes are the same number wherever the partial is one, so that the comparison decides nothing (the
// word `either`). Only differentiation writes this form: forward mode recognises it in a gradient
// (docs/differentiation.md).

#include <optional>

#include "transform/folding_builder.h"

namespace adc::autodiff {

class StrongZero {
 public:
  /// Of `s`, an adjoint or tangent; of an invalid one, or one that is a literal, nothing is masked.
  StrongZero(transform::FoldingBuilder& builder, ir::Value s);
  /// `scaled`, which is `s` times a partial derivative, but 0 where `s` is.
  ir::Value Of(ir::Value scaled);
  /// `sum` and `scaled`, but `sum` where `s` is 0.
  ir::Value AddedTo(ir::Value sum, ir::Value scaled);

 private:
  /// `s` is 0; invalid where that masks nothing of `scaled`.
  ir::Value IsZeroFor(ir::Value scaled);

  transform::FoldingBuilder& builder_;
  ir::Value s_;  ///< without a sign before it: minus s is 0 where s is
  ir::Value is_zero_;
};

/// `v` where `condition` is `wanted`, else 0.
ir::Value MaskedBy(ir::Builder& builder, ir::Value condition, bool wanted, ir::Value v);

/// The `s` of an instruction that has the form above; invalid of any other.
ir::Value SeedOfStrongZero(const ir::Function& function, ir::Inst inst);

}  // namespace adc::autodiff

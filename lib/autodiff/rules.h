#pragma once
// The partial derivatives of scalar operations: one table for both directions.
//
// For an operation r = op(a, b, ...) the table gives, for each operand, `s` times the partial derivative by
// that operand, as IR. Reverse mode passes the adjoint of r and adds what comes back to the operand's
// adjoint; forward mode passes the operand's tangent and sums what comes back over the operands. Because the
// scaled form is built, and not the bare partial, a linear operation costs nothing and a branch-like one
// (min, select) selects instead of multiplying by 0 or 1, so that no infinity meets a zero.

#include "ir/builder.h"

namespace adc::autodiff {

/// What a scaled partial reads: a bit per operand, and the result.
struct PartialReads {
  uint8_t operands = 0;
  bool result = false;
};

/// True for operations that `ScaledPartial` knows: a float result whose derivative is not zero everywhere.
bool HasPartials(ir::Op op);

/// What the partials by the operands in `active` (a bit each) read.
PartialReads ReadsOfPartials(const ir::Function& function, ir::Inst inst, uint8_t active);

/// `s` times d op / d operand `n`. `operands` and `result` are values of the function being built; only those
/// that `ReadsOfPartials` names need be valid. `s` has the type of the result, and so has what is returned
/// (for `cast` see ScaledCast). Conventions: docs of each operation in ir/ops.def.
ir::Value ScaledPartial(ir::Builder& builder, ir::Op op, uint32_t n, std::span<const ir::Value> operands,
                        ir::Value result, ir::Value s);

}  // namespace adc::autodiff

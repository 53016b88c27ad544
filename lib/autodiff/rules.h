#pragma once
// The partial derivatives of scalar operations: one text (partials.ir) for both directions.
//
// For an operation r = op(a, b, ...) the text gives, for each operand, `s` times the partial derivative by
// that operand, as IR. Reverse mode passes the adjoint of r and adds what comes back to the operand's
// adjoint; forward mode passes the operand's tangent and sums what comes back over the operands. Because the
// scaled form is built, and not the bare partial, a linear operation costs nothing and a branch-like one
// (min, select) selects instead of multiplying by 0 or 1, so that no infinity meets a zero.

#include "ir/builder.h"

namespace adc::autodiff {

/// The type that the adjoint of a value has while it is a register, and the adjoint of a local array: f32
/// where the value is f16. Contributions to one adjoint are as many as a loop has iterations, and a sum in
/// f16 stands still from 2048 on, where 2048 + 1 rounds to 2048. In a buffer an adjoint has the type of its
/// primal, and every update of the cell is rounded to it.
constexpr ir::Type AdjointType(ir::Type type) {
  return type.scalar == ir::Scalar::F16 ? type.WithScalar(ir::Scalar::F32) : type;
}

/// The values that a scaled partial reads: a bit per operand, and the result.
struct PartialReads {
  uint8_t operands = 0;
  bool result = false;
};

/// True for operations that `ScaledPartial` knows: a float result whose derivative is not zero everywhere.
bool HasPartials(ir::Op op);

/// How an instruction of a kernel that is differentiated is used, where that gives its partials another form.
enum class PartialForm : uint8_t {
  Plain,
  Norm,  ///< sqrt of a sum of squares
  Unit,  ///< div of a component by the norm of its vector
};
PartialForm FormOfPartials(const ir::Function& function, ir::Inst inst);

/// The reads of the partials by the operands in `active` (a bit each).
PartialReads ReadsOfPartials(const ir::Function& function, ir::Inst inst, uint8_t active);

/// `s` times d op / d operand `n`, of an instruction with this operation and form. `operands` and `result`
/// are values of the function being built; only those that `ReadsOfPartials` names need be valid. `s` has the
/// type of the result, or the AdjointType of it, and so has the returned value. Conventions: docs of each
/// operation in ir/ops.def.
ir::Value ScaledPartial(ir::Builder& builder, ir::Op op, PartialForm form, uint32_t n,
                        std::span<const ir::Value> operands, ir::Value result, ir::Value s);

}  // namespace adc::autodiff

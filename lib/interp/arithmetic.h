#pragma once
// The steps of scalar arithmetic, by operation and type. `dual` steps compute the tangent too.
//   dst = op a [, b [, c]]

#include "interp/machine.h"

namespace adc::interp {

/// A unary, binary or ternary operation (comparison and select included) on operands of `scalar`; of select,
/// the scalar of the values. Null where the operation does not take that type.
Step ArithmeticStep(ir::Op op, ir::Scalar scalar, bool dual);
Step CastStep(ir::Scalar from, ir::Scalar to, bool dual);
/// dst = the bits of a (of scalar b) as a value of scalar c.
Step BitcastStep(bool dual);
/// dst, ... = random numbers of seed a, counter b and stream c. Code::info is a RandomInfo.
const Code* RandomStep(Machine& m, const Code* c);
/// dst = a.
Step MoveStep(bool dual);
/// The tangent of dst = 0 where the length a is 0.
const Code* StillAtZeroStep(Machine& m, const Code* c);
/// dst = the tangent of a, as a value of `scalar`; and the other way round: the tangent of dst = a.
Step TangentToValueStep(ir::Scalar scalar);
Step ValueToTangentStep(ir::Scalar scalar);

}  // namespace adc::interp

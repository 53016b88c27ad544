#pragma once
// The result of each scalar operation, on constants: the one definition for the interpreter and constant
// folding.

#include <optional>
#include <span>

#include "ir/op.h"

namespace adc::ir {

/// The result bits of a scalar operation (unary, binary, ternary, comparison, select, cast, bitcast) on
/// operand bits in the form of ConstantData::bits. `operand_types` has one scalar type per operand; `result`
/// is the result type. Float operations of f16 and f32 compute in the type's own precision (f16: through f32,
/// rounded). Empty for operations that are not scalar arithmetic. Total: no operation traps (division by
/// zero, shifts, conversions follow docs/ir.md, section 7).
std::optional<uint64_t> EvaluateScalar(Op op, std::span<const Type> operand_types, Type result,
                                       std::span<const uint64_t> operands);

}  // namespace adc::ir

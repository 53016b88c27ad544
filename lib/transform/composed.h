#pragma once
// Operations that are written in other operations (composed.ir), so that back ends need not know them.

#include "transform/folding_builder.h"

namespace adc::transform {

/// `op` on scalars `operands`, written out where `builder` stands. `op` is of the class Composed or a
/// function with OwnText. f16 functions compute in f32.
ir::Value ExpandComposed(FoldingBuilder& builder, ir::Op op, std::span<const ir::Value> operands);

/// Writes out the functions with OwnText in all functions of the module.
///
/// Requires: registers hold scalars. Guarantees: no OwnText function is left; results of the new text do not
/// depend on the mode of floats. Nothing else changes.
void ExpandFunctions(ir::Module& module, FoldConfig fold);

}  // namespace adc::transform

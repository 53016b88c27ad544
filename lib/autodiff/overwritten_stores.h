#pragma once
// Which stores may leave nothing: another one writes the element afterwards.

#include "analysis/structure.h"
#include "support/side_table.h"

namespace adc::autodiff {

/// True where two accesses are of one buffer, and a constant index tells them apart.
bool DifferInConstantIndex(const ir::Function& function, ir::Inst a, ir::Inst b);

/// The stores that another store, or the same one in a later iteration of a serial loop, may overwrite. The
/// adjoint of what they store is 0 where that happens. False of a store that alone names its element by what
/// indices show; iterations of a `parallel` count as different elements.
///
/// Requires: a function in Phase::Scalar. Breaks: nothing, it only looks.
IndexSet<ir::Inst> FindOverwrittenStores(const analysis::Structure& structure);

}  // namespace adc::autodiff

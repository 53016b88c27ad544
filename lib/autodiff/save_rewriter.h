#pragma once
// Stores the values that a gradient reads again, each in a slot of a buffer (autodiff/save_overwritten.h).

#include <functional>
#include <memory>
#include <span>

#include "ir/function.h"
#include "transform/folding_builder.h"

namespace adc::autodiff {

/// Whether a value may be left out because it is not known how often `loop`, which is around it, runs.
using MayLeave = std::function<bool(ir::Inst value, ir::Inst loop)>;

/// Gives `*saved` a copy of `function` that saves `values`, and leaves it as it is where nothing is saved.
/// False where `leaves` does not allow to leave out a value.
/// Requires: each value is the only result of a load or an atomic.
/// Guarantees: slots of different values and iterations differ, and begin at 0.
bool SaveValues(ir::Module& module, const ir::Function& function, const transform::FoldConfig& fold,
                std::span<const ir::Inst> values, const MayLeave& leaves,
                std::unique_ptr<ir::Function>* saved);

}  // namespace adc::autodiff

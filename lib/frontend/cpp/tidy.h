#pragma once
// What is left of a function when everything that nobody reads is gone.

#include <memory>

#include "ir/function.h"

namespace adc::frontend {

/// A copy of `function` without pure instructions, carried values and results that have no reader, and
/// without loops and branches that do nothing. Calls, stores, atomics, assertions and prints stay. Names and
/// places stay.
///
/// Requires: Phase::Parsed, every operand visible where it is read.
std::unique_ptr<ir::Function> Tidy(ir::Module& module, const ir::Function& function);

}  // namespace adc::frontend

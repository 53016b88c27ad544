#pragma once
// Local arrays whose cells are all named by constants become values.

#include "transform/pass.h"

namespace adc::transform {

struct MemoryToRegistersConfig {
  FoldConfig fold = {};
};

/// Promotes every local array that is only loaded and stored, at constant indices inside its length, and is
/// not stored to in the condition region of a `while` (whose last, failing run has no counterpart in
/// registers). Cell k of `%a` becomes a value `%a.k`, carried through loops and branches that store to it.
///
/// Requires: arrays of scalars (Scalarise has run).
/// Guarantees: an array that is left is indexed by something that is not constant, or touched by an atomic.
/// Breaks: may leave carried values and results that nobody reads, for Simplify to drop.
bool MemoryToRegisters(ir::Module& module, const MemoryToRegistersConfig& config,
                       diag::Diagnostics& diagnostics);

/// The same of one function, which need not be one of the module's. Null: it has no such array.
std::unique_ptr<ir::Function> PromoteArrays(ir::Module& module, const ir::Function& function,
                                            const MemoryToRegistersConfig& config);

}  // namespace adc::transform

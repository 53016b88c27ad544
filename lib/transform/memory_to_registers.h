#pragma once
// Local arrays whose cells are all named by constants become values.

#include "transform/pass.h"

namespace adc::transform {

struct MemoryToRegistersConfig {
  FoldConfig fold = {};
  /// The pass `locals`: only arrays of one element, as which front ends write the variables of a program. An
  /// `if` that does no more than choose their values, cheaply (ir/cheap.h), becomes selects.
  bool scalars_alone = false;
};

/// Promotes every local array that is only loaded and stored, at constant indices inside its length, and is
/// not stored to in the condition region of a `while` (whose last, failing run has no counterpart in
/// registers), nor in a `parallel` around which it was made. Cell k of `%a` becomes a value `%a.k`, or `%a`
/// where it is the only one, carried through loops and branches that store to it, and by every way out of
/// them.
///
/// Guarantees: an array that is left has an index that is not constant, an access to a part of an element, an
/// atomic, or such a store.
/// Breaks: may leave carried values and results that have no readers, for Simplify to drop.
bool MemoryToRegisters(ir::Module& module, const MemoryToRegistersConfig& config,
                       diag::Diagnostics& diagnostics);

/// The same of one function, which need not be one of the module's. Null: it has no such array.
std::unique_ptr<ir::Function> PromoteArrays(ir::Module& module, const ir::Function& function,
                                            const MemoryToRegistersConfig& config);

}  // namespace adc::transform

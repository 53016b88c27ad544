#pragma once
// Replaces loops marked `unroll`, and small ones over arrays and vectors, by copies of their bodies.

#include "transform/pass.h"

namespace adc::transform {

struct UnrollConfig {
  /// Most instructions that one function may have afterwards, and most iterations that may be copied.
  uint32_t instruction_limit = 2'000'000;
  FoldConfig fold = {};
  /// Unrolls small loops that are not marked, too.
  bool small = false;
};

/// Unrolls every `for ... unroll` and `while max ... unroll`. Bounds may be any arithmetic that folds to a
/// constant, indices of outer unrolled loops included. Where `small`: and loops of few iterations between
/// constants, over elements of local arrays or components of vectors that the index chooses.
///
/// Requires: calls are inlined, so that constant arguments are seen. Loops that count are counted.
/// Guarantees: no loop is marked `unroll` any more; one whose bounds are not constant is an error (E0303), as
/// is growth beyond the limit (E0304).
/// Breaks: nothing. Arithmetic on constants is folded on the way.
bool Unroll(ir::Module& module, const UnrollConfig& config, diag::Diagnostics& diagnostics);

}  // namespace adc::transform

#pragma once
// `--deterministic`: sums of floats that do not depend on the order of their summands.
//
// Each sum into memory where iterations of a `parallel` can meet in one cell (`atomic add`, `atomic sub`,
// `add_to`) goes to an exact accumulator of the cell in scratch memory, by integer atomics (exact_sums.ir); a
// task after the loop adds what the cell held, rounds once, and stores. Sums that are shown to be one
// iteration's alone stay what they are.
//
//   parallel %i in 0..%n {                  parallel %i in 0..%n {
//     atomic add %loss[], %v          ->      pieces of %v: atomic add %loss.exact[%copy, %k], ...
//   }                                       }
//                                           the copies are merged; loss[] = round(loss[] + sum)
//
// An access that no accumulator mends is refused: a float's `atomic mul`, `exchange`, `compare_exchange`
// where iterations can meet, an old value of a float sum (E0460), and an access of what the same loop sums
// into (E0461). An access that makes the order of results depend on arrival, though not sums, gets a warning
// (W0460, W0461).
//
// Requires: derived kernels, simplified, no calls left, accumulation decided (accumulate.h).
// Guarantees: bit for bit the same memory after a launch, whatever the order of iterations, with the
// exceptions that warnings name. Breaks: nothing.

#include <optional>

#include "ir/function.h"
#include "transform/pass.h"

namespace adc::autodiff {

/// False after errors.
bool MakeSumsExact(ir::Module& module, const transform::FoldConfig& fold, diag::Diagnostics& diagnostics);

/// The extent of axis `axis` of the scratch parameter at `position`, where it is not that of the parameter
/// it belongs to: words of accumulators, and copies where all iterations meet in one cell. Empty elsewhere.
std::optional<int64_t> ExactExtent(const ir::Module& module, const ir::Function& kernel, uint32_t position,
                                   uint32_t axis);

}  // namespace adc::autodiff

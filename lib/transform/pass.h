#pragma once
// What the passes of this folder share: how floats may be rewritten, and how a runner looks on.
//
// Passes rebuild functions in their place: a reference to a function stays good over every pass that keeps
// it, but its values, instructions and blocks are numbered anew.

#include <functional>
#include <string_view>

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace adc::transform {

/// What rewriting floats may assume.
enum class FloatRules : uint8_t {
  Ieee,  ///< values stay bit by bit: signed zeros, infinities and NaN count
  Fast,  ///< zeros have no sign, no value is infinite or NaN
};

struct FoldConfig {
  FloatRules floats = FloatRules::Ieee;
};

/// Called around each pass with its name ("exits", "inline", "unroll", "guard-tasks", "scalarise", "mem2reg",
/// "simplify", "isolate-tasks", "sink-singular"): for timing, dumping, verifying, stopping. Both may be
/// empty. `after` returns false to stop the sequence there; that is not an error of its own.
struct PassObserver {
  std::function<void(std::string_view name, const ir::Module&)> before;
  std::function<bool(std::string_view name, const ir::Module&)> after;
};

/// How a pass or a sequence of passes ended.
enum class PassEnd : uint8_t {
  Done,
  Stopped,  ///< the observer asked for it
  Failed,   ///< errors are in the diagnostics
};

/// Runs `pass` (a bool() that is false after an error) under the observer.
PassEnd RunPass(const PassObserver& observer, std::string_view name, const ir::Module& module,
                const std::function<bool()>& pass);

}  // namespace adc::transform

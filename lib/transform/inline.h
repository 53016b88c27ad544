#pragma once
// Puts the bodies of functions in the place of their calls.

#include "transform/pass.h"

namespace adc::transform {

struct InlineConfig {
  /// Calls of functions that name a derivative of their own stay, for differentiation to find.
  bool keep_custom_derivatives = true;
  /// Every function stays, inlined into itself too: for modules that are read function by function.
  bool keep_functions = false;
  /// Most instructions that one kernel may have after inlining.
  uint32_t instruction_limit = 2'000'000;
  /// Deepest nesting of regions after inlining.
  uint32_t nesting_limit = 256;
  FoldConfig fold = {};
};

/// Inlines every call but those that stay for their derivatives. Unused functions leave the module: kernels
/// stay, and functions with a derivative of their own that are still called, and these derivatives.
///
/// Requires: a verified module (no recursion). Any phase: it runs once before differentiation, keeping custom
/// derivatives, and once after, keeping none.
/// Guarantees: the only calls left are of functions with a vjp or jvp, and with keep_custom_derivatives off
/// there are none. Size is checked before anything is copied: chains of functions that call each other twice
/// double at every step, and are refused by name (E0301); so is nesting that later passes could not walk
/// (E0302).
/// Breaks: nothing. Comments inside of functions that changed are dropped.
bool Inline(ir::Module& module, const InlineConfig& config, diag::Diagnostics& diagnostics);

}  // namespace adc::transform

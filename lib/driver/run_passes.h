#pragma once
// `adc opt`: passes on text, one by one.

#include <string>
#include <vector>

#include "driver/options.h"
#include "ir/module.h"

namespace adc::driver {

struct TextPasses {
  std::string input;                    ///< "-": standard input
  std::vector<std::string> passes;      ///< names of the table (pipeline.h), in the order in which they run
  ir::Phase phase = ir::Phase::Parsed;  ///< the phase of the text; the verifier holds it to that
};

/// Reads the text, runs the passes and writes what is left as text to options.output, whole or not at all;
/// empty: to standard output. Of `options` counts what passes and diagnostics read. The module is verified at
/// the end, and with WatchOptions::verify_each after each pass.
///
/// A pass that cannot run where it stands in the list is an error (E0709, kExitUsage) before anything is
/// read; a module that is not what a pass needs is one (E0207 with places, kExitFailed) before that pass.
ExitCode RunPassesOnText(const TextPasses& asked, const CompileOptions& options);

/// The passes that `adc opt` runs, a line each: name, phases, summary.
std::string PassList();

}  // namespace adc::driver

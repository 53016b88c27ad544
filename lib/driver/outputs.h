#pragma once
// The files that a compilation writes: which there are, what they are called, and that none of them
// replaces what was read.

#include <string>
#include <vector>

#include "diag/result.h"
#include "driver/options.h"

namespace adc::driver {

/// Compiles options.inputs and writes the output and the depfile: one output for all inputs where -o names
/// it, else one next to each input.
ExitCode CompileToFiles(const CompileOptions& options);

/// Fails with E0705 where one of `outputs` would replace a file that was read.
diag::Status KeepSources(const std::vector<std::string>& outputs, const std::vector<std::string>& read);

/// Where the output for `input` goes when -o does not say: "dir/kernel.ir" gives "kernel.adcb", ".o", ".h" in
/// the current folder; "-" for the kinds that are text for people.
std::string DefaultOutput(const std::string& input, Emit emit);

}  // namespace adc::driver

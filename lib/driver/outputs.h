#pragma once
// The files that a compilation writes: their kinds and their names.

#include <string>
#include <vector>

#include "driver/options.h"

namespace adc::driver {

/// Compiles options.inputs and writes the output and the depfile: one output for all inputs where -o names
/// it, else one next to each input.
ExitCode CompileToFiles(const CompileOptions& options);

}  // namespace adc::driver

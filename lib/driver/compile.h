#pragma once
// From text to what was asked for: the pipeline, and the files around it.

#include <cstdint>
#include <string>
#include <vector>

#include "driver/options.h"

namespace adc::driver {

/// What one compilation made.
struct Product {
  std::vector<uint8_t> bytes;             ///< in the form that CompileOptions::emit asks for
  std::vector<std::string> dependencies;  ///< files read, the inputs first
};

/// Compiles `inputs` together, in memory; their kernels share one product. Diagnostics, dumps and times go to
/// standard error. The product is good where the exit code is kExitOk.
ExitCode CompileInputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                       Product* product);

/// Compiles options.inputs and writes the output and the depfile: one output for all inputs where -o names
/// it, else one next to each input.
ExitCode CompileToFiles(const CompileOptions& options);

/// Where the output for `input` goes when -o does not say: "dir/kernel.ir" gives "kernel.adcb", ".o", ".h" in
/// the current folder; "-" for the kinds that are text for people.
std::string DefaultOutput(const std::string& input, Emit emit);

/// "adc 0.1.0"
std::string ProducerName();

}  // namespace adc::driver

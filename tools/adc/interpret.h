#pragma once
// `adc run --interpret`: a kernel in the reference interpreter, which checks every access, and prints.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "loader.h"
#include "values.h"

namespace adc::tool {

/// The bundle of the file at `path`, for what it says of kernels and their parameters. No warning that
/// `print` is left out. As CompileSource.
int CompileForInterpreter(const std::string& path, const OpenOptions& options, std::vector<uint8_t>* bytes);

struct InterpretOptions {
  bool reversed = false;     ///< iterations of parallel loops last first
  uint64_t step_budget = 0;  ///< steps after which the run ends; 0: as many as it takes
  bool quiet = false;        ///< print nothing: neither what the kernel prints nor the reason of a failure
};

/// Runs `kernel` of the source file at `path` once with `values` (every given parameter by name), and writes
/// what its `print` says to standard output. A kernel of the text runs as it was written, before any pass; a
/// derived one as it was derived. kExitOk, or the exit code after the reason was printed.
int InterpretSource(const std::string& path, const OpenOptions& options, const Kernel& kernel,
                    std::map<std::string, ArgValue>& values, const InterpretOptions& how = {});

}  // namespace adc::tool

#pragma once
// The file that repeats an internal error.

#include <string_view>

#include "diag/source.h"
#include "driver/options.h"
#include "host/crash.h"

namespace adc::driver {

/// While it lives, an internal error and a crash leave a file with the version, the command line and the text
/// of every file that was read, each after a line `//--- NAME`: CompileOptions::repro, or `adc-repro-PID.txt`
/// in TMPDIR
/// (/tmp).
class Reproduction {
 public:
  Reproduction(const CompileOptions& options, std::string_view version, const diag::SourceManager& sources);

 private:
  ReproductionScope scope_;
};

}  // namespace adc::driver

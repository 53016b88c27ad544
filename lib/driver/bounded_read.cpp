#include "driver/bounded_read.h"

#include "diag/errors/driver.h"
#include "driver/report.h"
#include "host/bounded_run.h"

namespace adc::driver {

void ReadBounded(const std::string& reader, const std::string& input, const CompileOptions& options,
                 const std::function<void()>& read) {
  auto text = [&](const std::string& what, const std::string& help) {
    diag::Diagnostics diagnostics;
    diagnostics.Error(diag::E0761, {}, reader + " takes more than " + what + " to read '" + input + "'")
        .AddHelp(help);
    return DiagnosticsText(diagnostics, diag::SourceManager(), options);
  };
  const Limits& limits = options.limits;
  RunBounds bounds;
  bounds.seconds = limits.seconds;
  bounds.mebibytes = limits.memory_mebibytes;
  bounds.too_long =
      text(std::to_string(limits.seconds) + " seconds of processor time",
           "simplify templates, macros and nested branches, or allow more with --limit-seconds=N");
  bounds.too_large =
      text(std::to_string(limits.memory_mebibytes) + " MiB of memory",
           "simplify templates, macros and constant expressions, or allow more with --limit-memory=MIB");
  bounds.too_deep =
      text("a gibibyte of stack",
           "an expression, a chain of 'else if' or a nest of blocks is too deep: use loops and arrays");
  RunBounded(bounds, read);
}

}  // namespace adc::driver

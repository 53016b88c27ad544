#pragma once
// How a compilation speaks to the person or the program that called it.

#include <string_view>

#include "diag/diagnostics.h"
#include "driver/options.h"

namespace adc::driver {

/// Whether standard error is a terminal that wants colour (NO_COLOR, TERM=dumb).
bool ColorOnStandardError();

/// Writes to standard error, whole.
void PrintToStandardError(std::string_view text);

/// Whether a warning with this id counts as an error: -Werror, where -w and -Wno-ID do not silence it.
bool BecomesError(diag::ErrorId id, const CompileOptions& options);

/// Prints what -w, -Wno-ID, -Werror and --error-format leave of the diagnostics. True where one of them is an
/// error.
bool ReportDiagnostics(const diag::Diagnostics& diagnostics, const diag::SourceManager& sources,
                       const CompileOptions& options);

/// Adds `found` to `diagnostics`, unless another target or kernel has given the same.
void AddOnce(const diag::Diagnostic& found, diag::Diagnostics& diagnostics);

}  // namespace adc::driver

#pragma once
// How a compilation speaks to the person or the program that called it.

#include <string>
#include <string_view>

#include "diag/diagnostics.h"
#include "driver/options.h"

namespace adc::driver {

/// Whether a warning with this id counts as an error: -Werror, where -w and -Wno-ID do not silence it.
bool BecomesError(diag::ErrorId id, const CompileOptions& options);

/// The diagnostics that -w, -Wno-ID, -Werror and the limit of errors leave.
diag::Diagnostics ShownDiagnostics(const diag::Diagnostics& diagnostics, const CompileOptions& options);

/// All of them in the form that --error-format asks for.
std::string DiagnosticsText(const diag::Diagnostics& diagnostics, const diag::SourceManager& sources,
                            const CompileOptions& options);

/// Prints what -w, -Wno-ID, -Werror and --error-format leave of the diagnostics; a log in SARIF also where
/// nothing is left. True where one of them is an error.
bool ReportDiagnostics(const diag::Diagnostics& diagnostics, const diag::SourceManager& sources,
                       const CompileOptions& options);

/// Prints what is wrong with a command line, as E0712 in `form`.
void ReportMistake(MessageForm form, std::string_view text, std::string_view help);

/// Adds `found` to `diagnostics`, unless another target or kernel has given the same.
void AddOnce(const diag::Diagnostic& found, diag::Diagnostics& diagnostics);

}  // namespace adc::driver

#include "driver/report.h"

#include <algorithm>

#include "diag/errors/adstack.h"
#include "diag/errors/driver.h"
#include "driver/error_page.h"
#include "host/terminal.h"
#include "product/version.h"
#include "support/check.h"

namespace adc::driver {

namespace {

bool IsSilenced(diag::ErrorId id, const CompileOptions& options) {
  return options.quiet_warnings || std::find(options.silenced.begin(), options.silenced.end(),
                                             diag::InfoOf(id).id) != options.silenced.end();
}

}  // namespace

bool BecomesError(diag::ErrorId id, const CompileOptions& options) {
  return options.warnings_are_errors && !IsSilenced(id, options);
}

diag::Diagnostics ShownDiagnostics(const diag::Diagnostics& diagnostics, const CompileOptions& options) {
  diag::Diagnostics shown(options.error_limit);
  for (const diag::Diagnostic& found : diagnostics.All()) {
    diag::Severity severity = found.severity;
    if (severity == diag::Severity::Remark && options.quiet_warnings) continue;
    if (severity == diag::Severity::Warning) {
      if (IsSilenced(found.id, options)) continue;
      if (options.warnings_are_errors) severity = diag::Severity::Error;
    }
    shown.Add({severity, found.id, found.span, found.text, found.notes, found.help});
  }
  // Errors beyond the limit were counted but not stored: count them here as well.
  while (shown.ErrorTotal() < diagnostics.ErrorTotal()) shown.Error(diag::E0700, {}, "");
  return shown;
}

std::string DiagnosticsText(const diag::Diagnostics& diagnostics, const diag::SourceManager& sources,
                            const CompileOptions& options) {
  switch (options.message_form) {
    case MessageForm::Text:
      return diag::PrintDiagnostics(diagnostics, sources, ColorOnStandardError(),
                                    LinksOnStandardError() ? ErrorPageUri() : "");
    case MessageForm::Json:
      return diag::PrintDiagnosticsJson(diagnostics, sources);
    case MessageForm::Sarif:
      return diag::PrintDiagnosticsSarif(diagnostics, sources, product::kVersion);
  }
  ADC_UNREACHABLE("a form of messages without a printer");
}

bool ReportDiagnostics(const diag::Diagnostics& diagnostics, const diag::SourceManager& sources,
                       const CompileOptions& options) {
  diag::Diagnostics shown = ShownDiagnostics(diagnostics, options);
  if (!shown.All().empty() || options.message_form == MessageForm::Sarif) {
    std::string text = DiagnosticsText(shown, sources, options);
    if (options.logs != nullptr) {
      options.logs->push_back(std::move(text));
    } else {
      PrintToStandardError(text);
    }
  }
  return shown.HasErrors();
}

void ReportMistake(MessageForm form, std::string_view text, std::string_view help) {
  CompileOptions options;
  options.message_form = form;
  diag::Diagnostics diagnostics;
  diag::Diagnostic& mistake = diagnostics.Error(diag::E0712, {}, std::string(text));
  if (!help.empty()) mistake.AddHelp(std::string(help));
  PrintToStandardError(DiagnosticsText(diagnostics, {}, options));
}

void AddOnce(const diag::Diagnostic& found, diag::Diagnostics& diagnostics) {
  for (const diag::Diagnostic& given : diagnostics.All()) {
    bool one_place = found.id == diag::E0504;  // a derived kernel may keep more values there
    if (given.id == found.id && given.span == found.span && (one_place || given.text == found.text)) return;
  }
  diagnostics.Add(found);
}

}  // namespace adc::driver

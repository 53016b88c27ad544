#include "nan_report.h"

#include "diag/diagnostics.h"
#include "diag/errors/driver.h"
#include "host/exit_code.h"
#include "host/terminal.h"
#include "print.h"

namespace adc::tool {

namespace {

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// "NaN", or the other kind that is looked for.
std::string Word(Sought sought) {
  return sought == Sought::Infinities ? "infinity or NaN" : "NaN";
}

std::string Headline(const interp::FirstNan& first, Sought sought) {
  std::string kernel = "'@" + first.function + "'";
  if (first.argument.empty())
    return "the first " + Word(sought) + " is made by '" + first.operation + "' in " + kernel;
  return "the first " + Word(sought) + " is what '" + first.argument + "' holds before '" + first.operation +
         "' in " + kernel + " reads it";
}

/// Of which part of a derived kernel the operation is; empty: the kernel is none.
std::string SweepText(interp::Sweep sweep) {
  switch (sweep) {
    case interp::Sweep::Kernel:
      return "";
    case interp::Sweep::Primal:
      return "a value of the kernel, computed again";
    case interp::Sweep::Partial:
      return "a partial derivative of the operation here";
    case interp::Sweep::Adjoint:
      return "in the adjoint sweep";
    case interp::Sweep::Tangent:
      return "a tangent";
  }
  return "";
}

/// "%v = -1.0, %r = nan"
std::string ValuesText(const interp::FirstNan& first) {
  std::string values = Joined(first.values);
  return values.empty() ? "" : "with " + values;
}

}  // namespace

int ReportNan(const interp::NanSearch& search, Sought sought, const Kernel& kernel,
              const diag::SourceManager& sources) {
  std::string name = "'" + std::string(kernel.report.name) + "'";
  if (!search.first || search.first->reaches.empty()) {
    Print("no %s comes out of kernel %s\n", Word(sought).c_str(), name.c_str());
    if (search.first)
      Print("the first one that it makes and leaves out: %s\n",
            LineOf(*search.first, sought, sources).c_str());
    return kExitOk;
  }
  const interp::FirstNan& first = *search.first;
  diag::Diagnostics diagnostics;
  diag::Diagnostic& error = diagnostics.Error(diag::E0710, first.span, Headline(first, sought));
  std::string sweep = SweepText(first.sweep), values = ValuesText(first);
  error.AddNote({}, "'" + first.statement + "'" + (values.empty() ? "" : " " + values));
  if (!sweep.empty()) error.AddNote({}, sweep);
  if (!first.iteration.empty()) error.AddNote({}, "at " + Joined(first.iteration));
  for (diag::SourceSpan caller : first.callers) error.AddNote(caller, "called here");
  error.AddNote({}, "it reaches '" + first.reaches + "'");
  PrintToStandardError(diag::PrintDiagnostics(diagnostics, sources, ColorOnStandardError()));
  return kExitFailed;
}

std::string LineOf(const interp::FirstNan& first, Sought sought, const diag::SourceManager& sources) {
  std::string text = sources.Describe(first.span) + ": " + Headline(first, sought);
  std::string sweep = SweepText(first.sweep), values = ValuesText(first);
  if (!sweep.empty()) text += " (" + sweep + ")";
  text += ", '" + first.statement + "'";
  if (!values.empty()) text += " " + values;
  if (!first.iteration.empty()) text += ", at " + Joined(first.iteration);
  return text;
}

}  // namespace adc::tool

#include "parse/no_text.h"

#include "diag/errors/parse.h"
#include "parse/lexer.h"

namespace adc::parse {

bool IsText(const std::string& name, std::string_view text, diag::SourceSpan from,
            diag::Diagnostics& diagnostics) {
  constexpr size_t kLongest = 4096;  // a path is shown whole
  if (text.find('\0') == std::string_view::npos) return true;
  diag::Diagnostic& error =
      diagnostics.Error(diag::E0130, from, Quoted(name, kLongest) + " holds NUL bytes: it is no text");
  // The first bytes of a bundle, as artifact-format/README.md has them.
  if (text.starts_with("\x89"
                       "ADC\r\n"))
    error.AddHelp("it is a bundle, compiled already: adc run, inspect, size, verify take it");
  return false;
}

}  // namespace adc::parse

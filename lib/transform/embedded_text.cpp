#include "transform/embedded_text.h"

#include "diag/diagnostics.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "support/check.h"
#include "transform/inline.h"
#include "transform/simplify.h"
#include "verify/verify.h"

namespace adc::transform {

std::unique_ptr<ir::Module> ReadEmbeddedText(std::string_view name, std::string text, EmbeddedForm form) {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module =
      parse::ParseText(std::string(name), std::move(text), {}, sources, diagnostics);
  bool good = module != nullptr && !diagnostics.HasErrors() && verify::Verify(*module, diagnostics);
  if (good && form != EmbeddedForm::AsWritten) good = Inline(*module, {.keep_functions = true}, diagnostics);
  if (good && form == EmbeddedForm::Simplified) good = Simplify(*module, {}, diagnostics);
  if (good) return module;
  std::string why = diagnostics.All().empty() ? "no function" : diagnostics.All()[0].text;
  ADC_UNREACHABLE((std::string(name) + " is not well formed: " + why).c_str());
}

void ReplaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace adc::transform

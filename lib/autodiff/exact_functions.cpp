// The text is written for cells with one index. For more, `%cell` and `%into` become as many values.

#include "autodiff/exact_functions.h"

#include <string>

#include "diag/diagnostics.h"
#include "parse/parser.h"
#include "support/check.h"
#include "transform/inline.h"
#include "transform/simplify.h"
#include "verify/verify.h"

namespace adc::autodiff {

namespace {

void ReplaceAll(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string TextFor(uint32_t axes) {
  std::string text = kExactSumsText;
  ReplaceAll(text, "buffer<u32, 2>", "buffer<u32, " + std::to_string(axes + 1) + ">");
  for (std::string_view name : {"%cell", "%into"}) {
    std::string parameters, values;
    for (uint32_t axis = 0; axis < axes; ++axis) {
      std::string value = std::string(name) + std::to_string(axis);
      values += (axis > 0 ? ", " : "") + value;
      parameters += (axis > 0 ? ", " : "") + value + ": i64";
    }
    // First where it is declared: what is left are uses.
    std::string mark = "%" + std::string(1, '\x01');
    ReplaceAll(text, std::string(name) + ": i64", mark);
    ReplaceAll(text, name, values);
    ReplaceAll(text, mark, parameters);
  }
  return text;
}

std::unique_ptr<ir::Module> Read(uint32_t axes) {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module =
      parse::ParseText("exact_sums.ir", TextFor(axes), {}, sources, diagnostics);
  bool good = module != nullptr && !diagnostics.HasErrors() && verify::Verify(*module, diagnostics) &&
              transform::Inline(*module, {.keep_functions = true}, diagnostics) &&
              transform::Simplify(*module, {}, diagnostics);
  ADC_CHECK(good, "the functions of exact_sums.ir are well formed");
  for (const auto& function : module->functions) {
    for (uint32_t n = 0; n < function->InstCount(); ++n) (*function)[ir::Inst(n)].span = {};
  }
  return module;
}

}  // namespace

const ir::Function& ExactFunctions::Get(std::string_view name, uint32_t axes) {
  ADC_CHECK(axes >= 1 && axes <= kMostAxes, "an accumulator with a number of axes that no buffer has");
  if (modules_[axes] == nullptr) modules_[axes] = Read(axes);
  const ir::Function* function = modules_[axes]->Find(name);
  ADC_CHECK(function != nullptr, "a function that exact_sums.ir does not hold");
  return *function;
}

}  // namespace adc::autodiff

// The text is written for cells with one index. For more, `%cell` and `%into` become as many values.

#include "autodiff/exact_functions.h"

#include <string>

#include "ir/module.h"
#include "support/check.h"
#include "transform/embedded_text.h"

namespace adc::autodiff {

using transform::ReplaceAll;

namespace {

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
    // First the declaration: all that is left are uses.
    std::string mark = "%" + std::string(1, '\x01');
    ReplaceAll(text, std::string(name) + ": i64", mark);
    ReplaceAll(text, name, values);
    ReplaceAll(text, mark, parameters);
  }
  return text;
}

std::unique_ptr<ir::Module> Read(uint32_t axes) {
  std::unique_ptr<ir::Module> module =
      transform::ReadEmbeddedText("exact_sums.ir", TextFor(axes), transform::EmbeddedForm::Simplified);
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

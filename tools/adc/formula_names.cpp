#include "formula_names.h"

#include <algorithm>
#include <cctype>

namespace adc::tool {

void FormulaNames::Count(const std::string& formula) {
  ++places_[formula];
}

std::string FormulaNames::Text(const std::string& formula) {
  bool is_word = std::all_of(formula.begin(), formula.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '?';
  });
  auto places = places_.find(formula);
  if (is_word || places == places_.end() || places->second < 2) return formula;
  std::string& name = names_[formula];
  if (name.empty()) {
    named_.push_back(formula);
    name = "e" + std::to_string(named_.size());
  }
  return name;
}

std::string FormulaNames::Named(std::string_view text, const std::vector<std::string>& formulas) {
  std::string named;
  for (const std::string& formula : formulas) {
    size_t at = text.find(formula);
    if (at == std::string_view::npos) continue;
    named.append(text.substr(0, at)).append(Text(formula));
    text = text.substr(at + formula.size());
  }
  return named.append(text);
}

}  // namespace adc::tool

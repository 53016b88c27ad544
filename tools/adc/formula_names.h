#pragma once
// Formulas that a text shows in several places, under names: each is written out once.

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace adc::tool {

class FormulaNames {
 public:
  /// Says that the text shows `formula`, once for each place.
  void Count(const std::string& formula);
  /// A formula as the text shows it: "e1" for one that has several places, itself for others and for what is
  /// no longer than a name. All of them are counted before.
  std::string Text(const std::string& formula);
  /// `text`, in which the formulas stand in this order.
  std::string Named(std::string_view text, const std::vector<std::string>& formulas);
  /// Formulas that were shown by their names, in the order of these.
  const std::vector<std::string>& named() const { return named_; }

 private:
  std::map<std::string, size_t> places_;
  std::map<std::string, std::string> names_;
  std::vector<std::string> named_;
};

}  // namespace adc::tool

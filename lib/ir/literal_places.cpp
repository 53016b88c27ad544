#include "ir/literal_places.h"

namespace adc::ir {

LiteralKind KindOfSpelling(std::string_view spelling) {
  if (spelling == "true" || spelling == "false") return LiteralKind::Bool;
  std::string_view digits = spelling.starts_with('-') ? spelling.substr(1) : spelling;
  if (digits == "inf" || digits == "nan") return LiteralKind::Float;
  bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  return digits.find_first_of(hex ? ".pP" : ".eE") != std::string_view::npos ? LiteralKind::Float
                                                                             : LiteralKind::Integer;
}

}  // namespace adc::ir

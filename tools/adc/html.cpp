#include "html.h"

namespace adc::tool {

std::string EscapedHtml(std::string_view text) {
  std::string escaped;
  for (char letter : text) {
    switch (letter) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += letter;
    }
  }
  return escaped;
}

}  // namespace adc::tool

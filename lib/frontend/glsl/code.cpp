#include "frontend/glsl/code.h"

#include <algorithm>

namespace adc::frontend::glsl {

void Blank(std::string& text, Range range) {
  for (size_t at = range.begin; at < range.end; ++at) {
    if (text[at] != '\n') text[at] = ' ';
  }
}

std::string CodeOf(const std::string& text, std::vector<Range>* comments) {
  std::string code = text;
  for (size_t at = 0; at < text.size();) {
    bool line = text.compare(at, 2, "//") == 0, block = text.compare(at, 2, "/*") == 0;
    size_t end = at + 1;
    if (line || block) {
      size_t close = text.find(line ? "\n" : "*/", at + 2);
      size_t inner = std::min(close, text.size());
      if (comments != nullptr) comments->push_back({at + 2, inner});
      end = line || close == std::string::npos ? inner : inner + 2;
    } else if (text[at] == '"') {
      end = std::min(text.find_first_of("\"\n", at + 1), text.size());
      if (end < text.size()) ++end;
    }
    if (end > at + 1) Blank(code, {at, end});
    at = end;
  }
  return code;
}

}  // namespace adc::frontend::glsl

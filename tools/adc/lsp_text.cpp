#include "lsp_text.h"

#include <algorithm>

#include "support/utf16.h"

namespace adc::tool {

LineTable::LineTable(std::string_view text) : text_(text), starts_{0} {
  for (size_t at = 0; at < text.size(); ++at) {
    bool ends = text[at] == '\n' || (text[at] == '\r' && (at + 1 == text.size() || text[at + 1] != '\n'));
    if (ends) starts_.push_back(at + 1);
  }
}

size_t LineTable::OffsetOf(Position position) const {
  if (position.line >= starts_.size()) return text_.size();
  size_t begin = starts_[position.line];
  size_t end = position.line + 1 < starts_.size() ? starts_[position.line + 1] : text_.size();
  std::string_view line = text_.substr(begin, end - begin);
  line = line.substr(0, line.find_first_of("\r\n"));
  return begin + Utf16Offset(line, position.character);
}

Position LineTable::PositionOf(size_t offset) const {
  offset = std::min(offset, text_.size());
  auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  auto line = static_cast<size_t>(after - starts_.begin()) - 1;
  size_t units = Utf16Length(text_.substr(starts_[line], offset - starts_[line]));
  return {static_cast<uint32_t>(line), static_cast<uint32_t>(units)};
}

}  // namespace adc::tool

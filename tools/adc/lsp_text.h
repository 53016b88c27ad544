#pragma once
// Places of a text as editors name them.

#include <cstdint>
#include <string_view>
#include <vector>

namespace adc::tool {

/// Line and UTF-16 unit, both from 0.
struct Position {
  uint32_t line = 0;
  uint32_t character = 0;
};

struct Range {
  Position begin, end;
};

/// The lines of a text, which "\n", "\r\n" and "\r" end.
class LineTable {
 public:
  /// `text` must outlive this.
  explicit LineTable(std::string_view text);

  /// The offset of a position; of one that the text has not, the end of its line or of the text.
  size_t OffsetOf(Position position) const;
  Position PositionOf(size_t offset) const;
  Range RangeOf(size_t begin, size_t end) const { return {PositionOf(begin), PositionOf(end)}; }

 private:
  std::string_view text_;
  std::vector<size_t> starts_;
};

}  // namespace adc::tool

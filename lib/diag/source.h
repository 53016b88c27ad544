#pragma once
// Source text and places in it. All files of one compilation share one offset space, so a place is two
// numbers.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace adc::diag {

/// A half-open range of bytes in the offset space of a SourceManager. Offset 0 means "no place".
struct SourceSpan {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool Valid() const { return begin != 0; }
  friend bool operator==(const SourceSpan&, const SourceSpan&) = default;
};

struct LineColumn {
  uint32_t line = 0;    ///< from 1; 0: no place
  uint32_t column = 0;  ///< from 1, in bytes
};

struct SourceFile {
  std::string name;  ///< as the user gave it, prefix maps applied
  std::string text;
  uint32_t base = 0;                       ///< offset of the first byte in the shared space
  std::vector<uint32_t> line_starts = {};  ///< offsets into `text`
  bool stands_in = false;                  ///< for the file `name`, whose lines it has, and another text
};

class SourceManager {
 public:
  /// Takes a file's text. Returns its base offset, or 0 when the offset space (4 GiB) is full.
  uint32_t AddFile(std::string name, std::string text);
  const SourceFile* FileOf(SourceSpan span) const;
  /// 1-based line and column of the first byte of `span`.
  LineColumn Locate(SourceSpan span) const;
  /// "name:line:column", or "<generated>" for an invalid span.
  std::string Describe(SourceSpan span) const;
  /// The text of 1-based `line` of `file`, without its newline.
  std::string_view LineText(const SourceFile& file, uint32_t line) const;
  const std::vector<std::unique_ptr<SourceFile>>& Files() const { return files_; }

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
  uint32_t next_base_ = 1;
};

}  // namespace adc::diag

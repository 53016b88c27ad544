#include "diag/source.h"

#include <algorithm>

namespace adc::diag {

uint32_t SourceManager::AddFile(std::string name, std::string text) {
  if (text.size() >= UINT32_MAX - next_base_ - 1) return 0;
  auto file = std::make_unique<SourceFile>(SourceFile{std::move(name), std::move(text), next_base_, {}});
  file->line_starts.push_back(0);
  for (uint32_t at = 0; at < file->text.size(); ++at) {
    if (file->text[at] == '\n') file->line_starts.push_back(at + 1);
  }
  next_base_ += static_cast<uint32_t>(file->text.size()) + 1;
  files_.push_back(std::move(file));
  return files_.back()->base;
}

const SourceFile* SourceManager::FileOf(SourceSpan span) const {
  if (!span.Valid()) return nullptr;
  auto after = std::upper_bound(files_.begin(), files_.end(), span.begin,
                                [](uint32_t offset, const auto& file) { return offset < file->base; });
  return after == files_.begin() ? nullptr : std::prev(after)->get();
}

LineColumn SourceManager::Locate(SourceSpan span) const {
  const SourceFile* file = FileOf(span);
  if (file == nullptr) return {};
  uint32_t offset = span.begin - file->base;
  auto after = std::upper_bound(file->line_starts.begin(), file->line_starts.end(), offset);
  auto line = static_cast<uint32_t>(after - file->line_starts.begin());
  return {line, offset - file->line_starts[line - 1] + 1};
}

std::string SourceManager::Describe(SourceSpan span) const {
  const SourceFile* file = FileOf(span);
  if (file == nullptr) return "<generated>";
  LineColumn place = Locate(span);
  return file->name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string_view SourceManager::LineText(const SourceFile& file, uint32_t line) const {
  if (line == 0 || line > file.line_starts.size()) return {};
  size_t begin = file.line_starts[line - 1];
  size_t end = line < file.line_starts.size() ? file.line_starts[line] - 1 : file.text.size();
  if (end > begin && file.text[end - 1] == '\r') --end;
  return std::string_view(file.text).substr(begin, end - begin);
}

}  // namespace adc::diag

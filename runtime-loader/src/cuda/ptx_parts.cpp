#include "cuda/ptx_parts.h"

#include <cstring>

#include "artifact/heap_sort.h"
#include "artifact/views.h"

namespace adrt {
namespace {

using adc::artifact::Piece;

bool BeginsName(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
         letter == '$';
}

bool IsWordLetter(char letter) {
  return BeginsName(letter) || (letter >= '0' && letter <= '9') || letter == '.' || letter == '%';
}

/// Reads a text token by token: a word with its dots (`.entry`, `%r1`, `fma.rn.f32`), a text in quotes, or
/// another letter. Blanks and comments lie between them.
class PtxReader {
 public:
  explicit PtxReader(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view Next() {
    SkipBlanks();
    size_t begin = at_;
    if (at_ == text_.size()) return {};
    if (text_[at_] == '"') {
      ++at_;
      SkipBehind("\"");
    } else if (IsWordLetter(text_[at_])) {
      while (at_ < text_.size() && IsWordLetter(text_[at_])) ++at_;
    } else {
      ++at_;
    }
    return Piece(text_, begin, at_ - begin);
  }

  void SkipLine() { SkipBehind("\n"); }
  const char* position() const { return text_.data() + at_; }

 private:
  void SkipBehind(std::string_view mark) {
    size_t found = text_.find(mark, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + mark.size();
  }

  void SkipBlanks() {
    while (at_ < text_.size()) {
      char letter = text_[at_];
      std::string_view two = Piece(text_, at_, 2);
      if (letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r') {
        ++at_;
      } else if (two == "//") {
        SkipLine();
      } else if (two == "/*") {
        at_ += 2;
        SkipBehind("*/");
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool EndsWithLine(std::string_view directive) {
  return directive == ".version" || directive == ".target" || directive == ".address_size" ||
         directive == ".file";
}

/// Takes the rest of what begins with `word`: up to its `;`, or to the end of its body. Gives its name.
std::string_view TakeItem(PtxReader& reader, std::string_view word) {
  std::string_view name;
  if (EndsWithLine(word)) {
    reader.SkipLine();
    return name;
  }
  bool has_values = false;
  for (int64_t depth = 0; !word.empty(); word = reader.Next()) {
    char letter = word[0];
    if (letter == '(' || letter == '[' || letter == '{') {
      ++depth;
    } else if (letter == ')' || letter == ']' || letter == '}') {
      --depth;
      if (letter == '}' && depth <= 0 && !has_values) break;
    } else if (depth <= 0) {
      if (letter == ';') break;
      if (letter == '=') has_values = true;
      if (name.empty() && BeginsName(letter)) name = word;
    }
  }
  return name;
}

}  // namespace

bool PtxParts::Cut(std::string_view text) {
  PtxReader reader(text);
  for (std::string_view word = reader.Next(); !word.empty(); word = reader.Next()) {
    std::string_view name = TakeItem(reader, word);
    if (!name.empty() && !by_name_.TryPush(static_cast<uint32_t>(items_.size()))) return false;
    size_t begin = static_cast<size_t>(word.data() - text.data());
    size_t end = static_cast<size_t>(reader.position() - text.data());
    if (!items_.TryPush({Piece(text, begin, end - begin), name})) return false;
  }
  adc::artifact::HeapSort(
      by_name_, [this](uint32_t left, uint32_t right) { return items_[left].name < items_[right].name; });
  return true;
}

bool PtxPart::Take(std::string_view name) {
  const Vector<uint32_t>& named = parts_.by_name_;
  size_t low = 0, high = named.size();
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (parts_.items_[named[middle]].name < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < named.size() && parts_.items_[named[low]].name == name; ++low) {
    if (taken_[named[low]]) continue;
    taken_[named[low]] = 1;
    if (!unread_.TryPush(named[low])) return false;
  }
  return true;
}

bool PtxPart::Write(Vector<uint8_t>* text) {
  while (!unread_.empty()) {
    PtxReader reader(parts_.items_[unread_.back()].text);
    unread_.pop_back();
    for (std::string_view word = reader.Next(); !word.empty(); word = reader.Next()) {
      if (BeginsName(word[0]) && !Take(word)) return false;
    }
  }
  size_t bytes = 1;
  auto is_in = [&](size_t index) { return taken_[index] || parts_.items_[index].name.empty(); };
  for (size_t index = 0; index < taken_.size(); ++index) {
    if (is_in(index)) bytes += parts_.items_[index].text.size() + 1;
  }
  if (!text->TryResize(bytes)) return false;
  uint8_t* to = text->data();
  for (size_t index = 0; index < taken_.size(); ++index) {
    if (!is_in(index)) continue;
    std::string_view item = parts_.items_[index].text;
    std::memcpy(to, item.data(), item.size());
    to[item.size()] = '\n';
    to += item.size() + 1;
  }
  return true;  // the last byte is the zero
}

}  // namespace adrt

// Markers in the text of a shader. glslang knows none of them, so they are found by a reader of three things:
// comments, brackets and names. It never asks what a name means: the reader of SPIR-V does, and refuses names
// that no block has.

#include "frontend/glsl/marks.h"

#include <algorithm>
#include <array>
#include <span>

#include "diag/errors/shader.h"
#include "frontend/glsl/code.h"
#include "support/letters.h"
#include "support/nearest.h"

namespace adc::frontend::glsl {
namespace {

using spirv::MarkedName;

constexpr std::string_view kPrefix = "adc:";

/// The shader says itself what is read only, and what may be one memory.
constexpr bool IsMarker(const ir::ParamWord& word) {
  return word.flag != &ir::ParamInfo::readonly && word.flag != &ir::ParamInfo::alias &&
         word.flag != &ir::ParamInfo::if_read;
}
constexpr const char* kMarkers = "markers are diff, writeonce, settled, disjoint, checked and save";

class MarkReader {
 public:
  MarkReader(std::string& text, uint32_t base, std::vector<MarkedName>& marked,
             diag::Diagnostics& diagnostics)
      : text_(text),
        code_(CodeOf(text, &comments_)),
        base_(base),
        marked_(marked),
        diagnostics_(diagnostics) {}

  bool Read() {
    for (size_t at = code_.find("[["); at != std::string::npos; at = code_.find("[[", at + 2))
      ReadAttribute(at);
    for (const Range& comment : comments_) ReadComment(comment);
    return good_;
  }

 private:
  void Refuse(Range range, const std::string& what, const std::string& help) {
    diagnostics_.Error(diag::E0863, Span(range), what).AddHelp(help);
    good_ = false;
  }

  diag::SourceSpan Span(Range range) const {
    return {base_ + static_cast<uint32_t>(range.begin), base_ + static_cast<uint32_t>(range.end)};
  }

  /// Sets what a word says; E0863 where it says nothing.
  void TakeWord(Range range, MarkedName& mark) {
    std::string_view word = std::string_view(text_).substr(range.begin, range.end - range.begin);
    std::vector<std::string_view> known;
    for (const ir::ParamWord& row : ir::kParamWords) {
      if (!IsMarker(row)) continue;
      known.push_back(row.text);
      if (row.text == word) {
        mark.marks.*row.flag = true;
        return;
      }
    }
    std::string_view near = NearestName(word, known);
    Refuse(range, "no marker has the word '" + std::string(word) + "'",
           near.empty() ? kMarkers : "did you mean '" + std::string(near) + "'?");
  }

  void ReadComment(Range comment) {
    size_t at = text_.find_first_not_of(kBlanks, comment.begin);
    if (at >= comment.end || text_.compare(at, kPrefix.size(), kPrefix) != 0) return;
    Range whole = {at, text_.find_last_not_of(kBlanks, comment.end - 1) + 1};
    at += kPrefix.size();
    MarkedName mark;
    bool any = false, before = good_;
    constexpr std::string_view kBetween = " \t\r\n,";
    for (at = text_.find_first_not_of(kBetween, at); at < whole.end;
         at = text_.find_first_not_of(kBetween, at)) {
      size_t end = std::min(text_.find_first_of(kBetween, at), whole.end);
      TakeWord({at, end}, mark);
      any = true;
      at = end;
    }
    if (!any) Refuse(whole, "a marker without a word", kMarkers);
    size_t line = code_.rfind('\n', whole.begin) + 1;
    bool found = AddBehind({line, whole.begin}, mark);
    if (!found && any && good_ == before)
      Refuse(whole, "no declaration stands in front of this marker",
             "write it on the line of the declaration, behind it");
  }

  /// `[[adc::WORD, ...]]` in front of a declaration. Attributes of others stay.
  void ReadAttribute(size_t open) {
    size_t close = code_.find("]]", open);
    if (close == std::string::npos) return;
    MarkedName mark;
    size_t ours = 0, others = 0;
    for (size_t at = open + 2; at < close;) {
      size_t end = std::min(code_.find(',', at), close);
      size_t begin = std::min(code_.find_first_not_of(kBlanks, at), end);
      if (code_.compare(begin, 5, "adc::") == 0) {
        size_t last = code_.find_last_not_of(kBlanks, end - 1) + 1;
        TakeWord({begin + 5, last}, mark);
        ++ours;
      } else {
        ++others;
      }
      at = end + 1;
    }
    if (ours == 0) return;
    Range whole = {open, close + 2};
    if (others > 0) {
      Refuse(whole, "an attribute of adc stands in one bracket with another",
             "give it a bracket of its own: [[adc::diff]]");
      return;
    }
    Blank(text_, whole);
    Blank(code_, whole);
    // Up to the end of the declaration, or to the brace of a block; attributes between are no names.
    std::string declaration = code_.substr(whole.end);
    for (size_t at = declaration.find("[["); at != std::string::npos; at = declaration.find("[[", at)) {
      size_t end = std::min(declaration.find("]]", at), declaration.size() - 2) + 2;
      Blank(declaration, {at, end});
    }
    size_t end = std::min(declaration.find_first_of(";{"), declaration.size());
    bool block = end < declaration.size() && declaration[end] == '{';
    bool found = block ? AddLast({whole.end, whole.end + end}, mark)
                       : AddNames(std::string_view(declaration).substr(0, end), whole.end, mark);
    if (!found)
      Refuse(whole, "no declaration follows this attribute", "write it in front of the declaration");
  }

  /// The last declaration of a line: members by their names, a block that ends there by its instance's or its
  /// own.
  bool AddBehind(Range line, const MarkedName& mark) {
    size_t last = code_.find_last_not_of(kBlanks, line.end == 0 ? 0 : line.end - 1);
    if (last == std::string::npos || last < line.begin) return false;
    size_t end = code_[last] == ';' || code_[last] == ',' ? last : last + 1;
    size_t begin = end;
    while (begin > line.begin && code_[begin - 1] != ';' && code_[begin - 1] != '{' &&
           code_[begin - 1] != '}')
      --begin;
    bool named = AddNames(std::string_view(code_).substr(begin, end - begin), begin, mark);
    if (!named && begin > 0 && code_[begin - 1] == '}') {
      size_t open = Opening(begin - 1);
      if (open == std::string::npos) return false;
      return AddLast({code_.find_last_of(";}", open) + 1, open}, mark);
    }
    return named;
  }

  /// The brace that the one at `close` closes.
  size_t Opening(size_t close) const {
    size_t depth = 0;
    for (size_t at = close + 1; at-- > 0;) {
      if (code_[at] == '}') ++depth;
      if (code_[at] == '{' && --depth == 0) return at;
    }
    return std::string::npos;
  }

  void Add(Range name, MarkedName mark) {
    mark.name = code_.substr(name.begin, name.end - name.begin);
    mark.span = Span(name);
    marked_.push_back(std::move(mark));
  }

  /// The name in front of a block's brace, or of its register: `buffer B {`, `cbuffer C : register(b0) {`.
  bool AddLast(Range range, const MarkedName& mark) {
    size_t end = std::min(code_.find(':', range.begin), range.end);
    while (end > range.begin && !IsNameCharacter(code_[end - 1])) --end;
    size_t begin = end;
    while (begin > range.begin && IsNameCharacter(code_[begin - 1])) --begin;
    if (begin == end) return false;
    Add({begin, end}, mark);
    return true;
  }

  /// The names that a declaration gives, `float a[], b`: of each part between commas the last word in front
  /// of an array, a register or a value. Parts inside of brackets of any kind are none.
  bool AddNames(std::string_view declaration, size_t at, const MarkedName& mark) {
    bool any = false, ended = false;
    int depth = 0;
    Range name;
    auto finish = [&] {
      if (name.end > name.begin) Add({at + name.begin, at + name.end}, mark);
      any |= name.end > name.begin;
      name = {};
      ended = false;
    };
    for (size_t n = 0; n < declaration.size();) {
      char letter = declaration[n];
      if (IsNameCharacter(letter)) {
        size_t begin = n;
        while (n < declaration.size() && IsNameCharacter(declaration[n])) ++n;
        if (depth == 0 && !ended) name = {begin, n};
        continue;
      }
      if (depth == 0 && letter == ',') finish();
      if (depth == 0 && (letter == '[' || letter == ':' || letter == '=') && name.end > 0) ended = true;
      depth += letter == '<' || letter == '(' || letter == '['   ? 1
               : letter == '>' || letter == ')' || letter == ']' ? -1
                                                                 : 0;
      ++n;
    }
    finish();
    return any;
  }

  std::string& text_;
  std::vector<Range> comments_;
  std::string code_;  ///< the text, with blanks for comments
  uint32_t base_;
  std::vector<MarkedName>& marked_;
  diag::Diagnostics& diagnostics_;
  bool good_ = true;
};

}  // namespace

bool TakeMarks(std::string& text, uint32_t base, std::vector<spirv::MarkedName>& marked,
               diag::Diagnostics& diagnostics) {
  return MarkReader(text, base, marked, diagnostics).Read();
}

}  // namespace adc::frontend::glsl

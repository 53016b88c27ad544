// Diagnostics as text with carets.
//
// The source line is the user's and may be anything: tabs become four spaces; control characters, marks that
// turn the direction of text and malformed UTF-8 become a replacement mark; and of a very long line only the
// surroundings of the caret are shown, so that a message has a bounded size and cannot drive the terminal.

#include <algorithm>

#include "diag/diagnostics.h"
#include "diag/severity_word.h"
#include "support/printable.h"

namespace adc::diag {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kBytesBefore = 80;
constexpr size_t kBytesAfter = 120;

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Appends what is shown for text[begin, end) and gives the number of columns that it takes.
size_t AppendShown(std::string& out, std::string_view text, size_t begin, size_t end) {
  size_t columns = 0;
  for (size_t at = begin; at < end;) {
    size_t length = SequenceAt(text, at);
    if (text[at] == '\t') {
      out += "    ";
      columns += 4;
    } else if (length == 0 || IsHidden(text, at)) {
      out += kReplacement;
      ++columns;
    } else {
      out += text.substr(at, length);
      ++columns;
    }
    at += length == 0 ? 1 : length;
  }
  return columns;
}

class TextPrinter {
 public:
  TextPrinter(const SourceManager& sources, bool color, std::string_view page, std::string& out)
      : sources_(sources), color_(color), page_(page), out_(out) {}

  void Print(const Diagnostic& diagnostic) {
    const char* word = SeverityWord(diagnostic.severity);
    const char* paint = diagnostic.severity == Severity::Error     ? "\033[1;31m"
                        : diagnostic.severity == Severity::Warning ? "\033[1;35m"
                                                                   : "\033[1;34m";
    Headline(diagnostic.span, word, paint, diagnostic.text, InfoOf(diagnostic.id).id);
    for (const Note& note : diagnostic.notes) Headline(note.span, "note", "\033[1;36m", note.text, {});
    if (diagnostic.help.empty()) return;
    Painted("\033[1;32m", "help: ");
    AppendText(diagnostic.help);
    out_ += '\n';
  }

 private:
  void Painted(const char* paint, std::string_view text) {
    if (color_) out_ += paint;
    out_ += text;
    if (color_) out_ += "\033[0m";
  }
  /// A message may quote the user's text: nothing in it reaches the terminal as a control character.
  void AppendText(std::string_view text) { AppendShown(out_, text, 0, text.size()); }

  /// The id, as a link where there is a page.
  std::string Linked(const std::string& id) const {
    if (page_.empty()) return id;
    return "\033]8;;" + std::string(page_) + "#" + id + "\033\\" + id + "\033]8;;\033\\";
  }

  void Headline(SourceSpan span, std::string_view word, const char* paint, std::string_view text,
                std::string_view id) {
    const SourceFile* file = sources_.FileOf(span);
    if (file != nullptr) {
      AppendText(sources_.Describe(span));
      out_ += ": ";
    } else if (id.empty()) {
      // A note without a place stands by itself.
    } else {
      out_ += "adc: ";
    }
    Painted(paint, std::string(word) + ":");
    out_ += ' ';
    AppendText(text);
    if (!id.empty()) out_ += " [" + Linked(std::string(id)) + "]";
    out_ += '\n';
    if (file != nullptr) Excerpt(*file, span);
  }

  void Excerpt(const SourceFile& file, SourceSpan span) {
    LineColumn place = sources_.Locate(span);
    std::string_view line = sources_.LineText(file, place.line);
    size_t first = std::min<size_t>(place.column - 1, line.size());
    size_t last = std::min<size_t>(first + (span.end > span.begin ? span.end - span.begin : 1), line.size());
    size_t begin = first > kBytesBefore ? first - kBytesBefore : 0;
    while (begin > 0 && begin < first && IsContinuation(line[begin])) ++begin;
    size_t end = std::min(line.size(), first + kBytesAfter);
    while (end > first && end < line.size() && IsContinuation(line[end])) --end;
    last = std::min(last, end);
    std::string lead = begin > 0 ? "..." : "";
    out_ += lead;
    size_t indent = lead.size() + AppendShown(out_, line, begin, first);
    size_t width = AppendShown(out_, line, first, last);
    AppendShown(out_, line, last, end);
    if (end < line.size()) out_ += "...";
    out_ += '\n';
    out_.append(indent, ' ');
    std::string marks = "^";
    if (width > 1) marks.append(width - 1, '~');
    Painted("\033[1;32m", marks);
    out_ += '\n';
  }

  const SourceManager& sources_;
  bool color_;
  std::string_view page_;
  std::string& out_;
};

}  // namespace

std::string PrintDiagnostics(const Diagnostics& diagnostics, const SourceManager& sources, bool color,
                             std::string_view page) {
  std::string out;
  TextPrinter printer(sources, color, page, out);
  for (const Diagnostic& diagnostic : diagnostics.All()) printer.Print(diagnostic);
  if (diagnostics.Full()) {
    out += "adc: stopped after " + std::to_string(diagnostics.ErrorLimit()) +
           (diagnostics.ErrorLimit() == 1 ? " error" : " errors") + "; --error-limit=N shows more\n";
  }
  // For people alone: programs get the messages and nothing else.
  if (color && !diagnostics.All().empty())
    out += "adc explain " + std::string(InfoOf(diagnostics.All()[0].id).id) +
           ": what this means, an example, the way out\n";
  return out;
}

}  // namespace adc::diag

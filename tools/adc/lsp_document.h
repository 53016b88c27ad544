#pragma once
// A text that is open in an editor, and the compiler's facts about it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "driver/compile.h"
#include "host/input_kind.h"
#include "lsp_text.h"
#include "parse/lexer.h"
#include "parse/places.h"

namespace adc::tool {

struct FilePlace {
  std::string path;
  Range range;
};

/// A diagnostic in a document; one of another file is at the beginning, with its place beside it.
struct DocumentMessage {
  diag::Severity severity = diag::Severity::Error;
  std::string id, text;
  Range range;
  struct Related {
    FilePlace place;
    std::string text;
  };
  std::vector<Related> related;
};

/// The text that is shown for a word, in Markdown.
struct Hover {
  Range range;
  std::string text;
};

/// A word that may be written where the cursor is.
struct CompletionItem {
  enum class Kind : uint8_t { Value, Symbol, Type, Operation, Keyword };
  std::string label;  ///< without '%' or '@'
  Kind kind = Kind::Keyword;
  std::string detail, documentation;
};

struct TextEdit {
  Range range;
  std::string text;
};

class Document {
 public:
  /// `path` is the name in messages, and the place from which imports are looked for.
  Document(std::string path, driver::CompileOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  void SetText(std::string text);
  /// Whether it is a shader: the server knows its messages and the provisions of gradients for its lines.
  bool IsShader() const { return adc::IsShader(InputKindOf(path_)); }
  const std::string& Text() const { return text_; }

  /// Compiles the text up to the plans of its gradients, unless that is done. False where `cancelled`, which
  /// is asked between passes, has ended it.
  bool Analyse(const std::function<bool()>& cancelled);
  bool IsAnalysed() const { return analysed_; }
  const std::vector<DocumentMessage>& Messages() const { return messages_; }

  // These are of a text that is analysed.
  std::optional<Hover> HoverAt(Position position);
  /// The provisions of gradients for the values that the line makes.
  std::optional<Hover> HoverOfLine(Position position) const;
  std::optional<FilePlace> DefinitionOf(Position position);
  /// The words that may stand after a '%', an '@', or else, in alphabetical order.
  std::vector<CompletionItem> Completions(Position position);
  /// The places of the name at a position in this document.
  std::vector<Range> UsesOf(Position position);
  /// The edits that rename what is named at `position`. None, after a reason in `failure`, where not all
  /// places are known, or where a name would mean something else afterwards.
  std::vector<TextEdit> Rename(Position position, const std::string& name, std::string* failure);

  /// The text in the form of `adc fmt`. None, after a reason in `failure`, where it has no form.
  std::optional<std::string> Formatted(std::string* failure) const;
  Range WholeRange() const { return LineTable(text_).RangeOf(0, text_.size()); }

 private:
  void Take(const diag::Diagnostic& found, const diag::SourceManager& sources);
  FilePlace PlaceOf(const diag::SourceManager& sources, diag::SourceSpan span) const;
  /// That of the document among the sources; null: it could not be read.
  const diag::SourceFile* OwnFile() const;
  /// The name of a value at an offset of the text.
  const parse::ValuePlace* ValueAt(size_t offset) const;
  /// Where the function, constant, layout or type is defined that `token` names.
  diag::SourceSpan SymbolOf(const parse::Token& token);
  std::vector<CompletionItem> ValueCompletions(size_t offset) const;
  /// The extents of all names that mean what is named at `offset`; none, perhaps with a reason in `failure`.
  std::vector<std::pair<size_t, size_t>> PlacesOfName(size_t offset, std::string* failure);
  bool MeansTheSame(const std::string& text, const std::string& name, std::string* failure) const;
  bool CompilesAlike(const std::string& text, const std::string& name, std::string* failure) const;
  /// With its '%'.
  std::string NameOf(const parse::ValuePlace& place) const;
  std::string DescribeValue(const parse::ValuePlace& place) const;
  /// The text of the item that is defined at `place`, without a body.
  std::string Signature(diag::SourceSpan place) const;

  std::string path_;
  driver::CompileOptions options_;
  std::string text_;
  bool analysed_ = false;
  std::vector<DocumentMessage> messages_;
  product::Product product_;
  parse::Places places_;
};

}  // namespace adc::tool

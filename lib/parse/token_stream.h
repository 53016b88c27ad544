#pragma once
// The current token and what to say when it is not the one expected.

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/function.h"
#include "parse/lexer.h"
#include "parse/places.h"

namespace adc::parse {

class Definitions;
class Generics;

/// The state that all parsers of one compilation share.
struct Shared {
  ir::Module& module;
  diag::Diagnostics& diagnostics;
  /// Constants and layouts whose definitions have errors: an error in their uses is no further mistake.
  std::unordered_set<StringId> broken = {};
  /// An import could not be read: any name may be one of it.
  bool incomplete = false;
  Definitions* definitions = nullptr;
  Generics* generics = nullptr;
  Places* places = nullptr;  ///< where set, gets where names stand

  /// Whether nothing is to be said of `name`, which nothing known has.
  bool MayBeDefined(StringId name) const { return incomplete || broken.contains(name); }
};

class TokenStream {
 public:
  TokenStream(Shared& shared, const diag::SourceFile& file, uint32_t begin, uint32_t end)
      : shared_(shared), file_(file), lexer_(file, begin, end, shared.diagnostics) {
    Advance();
  }

  const Token& Now() const { return token_; }
  bool Is(TokenKind kind) const { return token_.kind == kind; }
  bool IsWord(std::string_view word) const { return token_.kind == TokenKind::Word && token_.text == word; }
  void Advance() {
    previous_end_ = token_.end;
    token_ = lexer_.Next();
  }
  bool Accept(TokenKind kind) {
    if (token_.kind != kind) return false;
    Advance();
    return true;
  }
  bool AcceptWord(std::string_view word) {
    if (!IsWord(word)) return false;
    Advance();
    return true;
  }
  /// Takes a token of `kind`, or says that `what` was expected.
  bool Expect(TokenKind kind, std::string_view what) {
    if (Accept(kind)) return true;
    return Unexpected(what);
  }
  bool ExpectWord(std::string_view word) {
    if (AcceptWord(word)) return true;
    return Unexpected(std::string("'").append(word).append("'"));
  }
  /// Takes the closing partner of a bracket that stands at `open`.
  bool ExpectClosing(TokenKind kind, std::string_view what, diag::SourceSpan open);
  /// The current token is a number with a sign, where an operator may stand: it becomes the sign alone.
  void SplitSign();
  /// The kind of the token after the current one.
  TokenKind PeekKind() const;

  diag::SourceSpan SpanNow() const { return lexer_.SpanOf(token_.begin, token_.end); }
  diag::SourceSpan SpanFrom(uint32_t begin) const { return lexer_.SpanOf(begin, previous_end_); }
  diag::SourceSpan SpanPrevious() const {
    return lexer_.SpanOf(previous_end_ == 0 ? 0 : previous_end_ - 1, previous_end_);
  }

  diag::Diagnostic& Error(diag::ErrorId id, diag::SourceSpan span, std::string text) {
    diag::Diagnostic& error = shared_.diagnostics.Error(id, span, std::move(text));
    if (note_place_.Valid()) error.AddNote(note_place_, note_);
    return error;
  }
  /// A note for every error from here on.
  void AddNoteToErrors(diag::SourceSpan place, std::string text) {
    note_place_ = place;
    note_ = std::move(text);
  }
  /// Says "expected ..., found ..." at the current token; silent where the lexer has complained about it.
  /// False, for a parser that gives up there.
  bool Unexpected(std::string_view what, std::string help = {});
  /// Adds `name`, which messages call `shown`, to `places`. False where it is defined already, which this
  /// says.
  bool Claim(std::unordered_map<StringId, diag::SourceSpan>& places, StringId name, diag::SourceSpan span,
             const std::string& shown);
  bool Full() const { return shared_.diagnostics.Full(); }

  const diag::SourceFile& file() const { return file_; }
  /// `other` goes on where this stands.
  void Continue(TokenStream& other) const {
    other.lexer_.Seek(token_.begin);
    other.Advance();
    other.previous_end_ = previous_end_;
  }
  /// The parameter of a generic function: a word that names a type here.
  void Bind(std::string_view word, ir::Type type) {
    bound_word_ = word;
    bound_type_ = type;
  }
  ir::Type BoundType(std::string_view word) const {
    return !bound_word_.empty() && word == bound_word_ ? bound_type_ : ir::kNoType;
  }

  ir::Module& module() { return shared_.module; }
  bool MayBeDefined(StringId name) const { return shared_.MayBeDefined(name); }
  Lexer& lexer() { return lexer_; }
  Shared& shared() { return shared_; }
  /// Goes on after `offset`.
  void Resume(uint32_t offset) {
    lexer_.Seek(offset);
    Advance();
  }
  /// Passes over the block whose '{' is the current token. False where it has no end.
  bool SkipBlock() {
    bool closed = false;
    Resume(lexer_.SkipBlock(token_.end, &closed));
    return closed;
  }
  std::vector<StringId> TakeComments();

 private:
  /// "expected ..., found ..." at the current token, or at the end of the line before it.
  diag::Diagnostic& Missing(diag::ErrorId id, std::string_view what);

  Shared& shared_;
  const diag::SourceFile& file_;
  Lexer lexer_;
  Token token_;
  std::string_view bound_word_;
  ir::Type bound_type_;
  diag::SourceSpan note_place_;
  std::string note_;
  uint32_t previous_end_ = 0;
};

/// How a message names a token: `'carry'`, `a number`, `the end of the file`.
std::string Describe(const Token& token);

/// Parses a type. Says what is wrong with it and gives false otherwise.
bool ParseType(TokenStream& stream, ir::Type* type);
/// Whether `word` begins a type.
bool BeginsType(TokenStream& stream, std::string_view word);
/// The scalar type that `word` names, as a name of a type too.
std::optional<ir::Scalar> ScalarOf(TokenStream& stream, std::string_view word);
/// The scalar type spelled `word`.
std::optional<ir::Scalar> ScalarFromWord(std::string_view word);

}  // namespace adc::parse

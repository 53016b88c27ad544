#pragma once
// The current token and what to say when it is not the one expected.

#include <initializer_list>
#include <string>

#include "ir/module.h"
#include "parse/lexer.h"

namespace adc::parse {

/// What all parsers of one compilation share.
struct Shared {
  ir::Module& module;
  diag::Diagnostics& diagnostics;
};

class TokenStream {
 public:
  TokenStream(Shared& shared, const diag::SourceFile& file, uint32_t begin, uint32_t end)
      : shared_(shared), lexer_(file, begin, end, shared.diagnostics) {
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
    Unexpected(what);
    return false;
  }
  bool ExpectWord(std::string_view word) {
    if (AcceptWord(word)) return true;
    Unexpected(std::string("'").append(word).append("'"));
    return false;
  }
  /// Takes the closing partner of a bracket that stands at `open`.
  bool ExpectClosing(TokenKind kind, std::string_view what, diag::SourceSpan open);
  /// The kind of the token after the current one.
  TokenKind PeekKind();

  diag::SourceSpan SpanNow() const { return lexer_.SpanOf(token_.begin, token_.end); }
  diag::SourceSpan SpanFrom(uint32_t begin) const { return lexer_.SpanOf(begin, previous_end_); }
  diag::SourceSpan SpanPrevious() const {
    return lexer_.SpanOf(previous_end_ == 0 ? 0 : previous_end_ - 1, previous_end_);
  }

  diag::Diagnostic& Error(diag::ErrorId id, diag::SourceSpan span, std::string text) {
    return shared_.diagnostics.Error(id, span, std::move(text));
  }
  /// "expected ..., found ..." at the current token; silent where the lexer has complained about it.
  void Unexpected(std::string_view what, std::string help = {});
  bool Full() const { return shared_.diagnostics.Full(); }

  ir::Module& module() { return shared_.module; }
  Lexer& lexer() { return lexer_; }
  Shared& shared() { return shared_; }
  /// Goes on after `offset`.
  void Resume(uint32_t offset) {
    lexer_.Seek(offset);
    Advance();
  }
  std::vector<StringId> TakeComments();

 private:
  Shared& shared_;
  Lexer lexer_;
  Token token_;
  uint32_t previous_end_ = 0;
};

/// How a message names a token: `'carry'`, `a number`, `the end of the file`.
std::string Describe(const Token& token);

/// Parses a type. Says what is wrong with it and gives false otherwise.
bool ParseType(TokenStream& stream, ir::Type* type);
/// The scalar type spelled `word`.
std::optional<ir::Scalar> ScalarFromWord(std::string_view word);

}  // namespace adc::parse

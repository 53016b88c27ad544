#pragma once
// Characters to tokens, one at a time. The lexer never fails: text that it cannot read becomes a token of
// kind Bad, which it has already reported, once per place.

#include <string_view>
#include <utility>
#include <vector>

#include "diag/diagnostics.h"

namespace adc::parse {

enum class TokenKind : uint8_t {
  End,
  Bad,
  Word,       ///< `add`, `vec.make`, `f32`
  ValueName,  ///< `%x.adj`; the text is without '%'
  Symbol,     ///< `@f`; the text is without '@'
  Number,     ///< `42`, `-1.5e-3`, `0x1F`, `-inf`
  String,     ///< with its quotes and escapes
  LeftParen,
  RightParen,
  LeftBrace,
  RightBrace,
  LeftBracket,
  RightBracket,
  Less,
  Greater,
  Comma,
  Colon,
  DoubleColon,
  Equals,
  Arrow,  ///< `->`
  Dot,
  DotDot,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,  ///< '%' before a blank or a bracket: the operator, not the beginning of a name
  Bang,
  Tilde,
  Ampersand,
  Bar,
  Caret,
  Question,
  AndAnd,
  OrOr,
  EqualEqual,
  NotEqual,
  LessEqual,
  GreaterEqual,
  ShiftLeft,
  ShiftRight,
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool first_on_line = false;
  uint32_t begin = 0;  ///< offsets into the file's text
  uint32_t end = 0;
  std::string_view text;  ///< of names without their sigil
};

class Lexer {
 public:
  /// Reads `file.text` from offset `begin` up to `end`.
  Lexer(const diag::SourceFile& file, uint32_t begin, uint32_t end, diag::Diagnostics& diagnostics)
      : text_(file.text), base_(file.base), begin_(begin), at_(begin), end_(end), diagnostics_(diagnostics) {}

  Token Next();
  /// Comments that stood on lines of their own before the token last read, since the last call.
  std::vector<std::string_view> TakeComments() { return std::exchange(comments_, {}); }
  /// While quiet, the lexer passes over text that it cannot read without a message: the place has been
  /// reported.
  void SetQuiet(bool quiet) { quiet_ = quiet; }
  bool Quiet() const { return quiet_; }

  uint32_t End() const { return end_; }
  /// Goes on reading elsewhere in the same text.
  void Seek(uint32_t offset) { at_ = offset; }
  diag::SourceSpan SpanOf(uint32_t begin, uint32_t end) const { return {base_ + begin, base_ + end}; }

  /// From just after a '{': the offset just after its '}', or where the block has to end because the text
  /// ends or a line begins with what can only be a new item. `closed` says which. Passes over comments and
  /// strings.
  uint32_t SkipBlock(uint32_t begin, bool* closed) const;

 private:
  void SkipBlank(bool* first_on_line);
  bool IsOperatorPercent() const;
  Token ReadNumber(Token token);
  Token ReadString(Token token);
  Token ReadName(Token token, TokenKind kind);
  Token Complain(Token token, diag::ErrorId id, std::string text, std::string help = {});
  char At(size_t offset) const { return offset < end_ ? text_[offset] : '\0'; }

  std::string_view text_;
  uint32_t base_;
  uint32_t begin_;
  uint32_t at_;
  uint32_t end_;
  diag::Diagnostics& diagnostics_;
  std::vector<std::string_view> comments_;
  bool quiet_ = false;
};

/// The text of a string token, escapes resolved. The token was read by the lexer, so its escapes are good.
std::string Unescape(std::string_view quoted);
/// A piece of the user's text for a message: quoted, cut to a bounded length, control characters replaced.
std::string Quoted(std::string_view text, size_t longest = 48);

}  // namespace adc::parse

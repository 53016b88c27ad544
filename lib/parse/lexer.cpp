// Three places need care. A name may hold dots (`%x.adj`), and `%lo..%hi` is a range: a dot belongs to a name
// or number only where a name character other than a second dot follows. And a comment counts as a line of
// its own only when nothing but blanks stands before it. And `%` begins a name, but is an operator where a
// blank and an operand follow, or a bracket.

#include "parse/lexer.h"

#include <string_view>
#include <utility>

#include "diag/errors/parse.h"
#include "support/letters.h"

namespace adc::parse {
namespace {

constexpr bool IsBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
}

constexpr bool IsHexDigit(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Length of the UTF-8 sequence that `lead` begins; 1 for anything malformed.
uint32_t SequenceLength(unsigned char lead) {
  if (lead >= 0xF0 && lead < 0xF8) return 4;
  if (lead >= 0xE0) return lead < 0xF0 ? 3 : 1;
  return lead >= 0xC2 ? 2 : 1;
}

/// Words that begin an item of a file and never a statement.
bool BeginsItem(std::string_view line) {
  for (std::string_view word : {"kernel", "func", "layout", "const", "import", "type"}) {
    if (!line.starts_with(word)) continue;
    line.remove_prefix(word.size());
    size_t blanks = line.find_first_not_of(" \t");
    if (blanks == 0 || blanks == std::string_view::npos) return false;
    if (word == "type") return IsLetter(line[blanks]);
    return line[blanks] == (word == "import" ? '"' : '@');
  }
  return false;
}

}  // namespace

Token Lexer::Complain(Token token, diag::ErrorId id, std::string text, std::string help) {
  token.kind = TokenKind::Bad;
  token.end = at_;
  token.text = text_.substr(token.begin, token.end - token.begin);
  if (!quiet_)
    diagnostics_.Error(id, SpanOf(token.begin, token.end), std::move(text)).AddHelp(std::move(help));
  return token;
}

void Lexer::SkipBlank(bool* first_on_line) {
  while (at_ < end_) {
    char c = text_[at_];
    if (c == '\n') {
      *first_on_line = true;
      ++at_;
    } else if (IsBlank(c)) {
      ++at_;
    } else if (c == '/' && At(at_ + size_t{1}) == '/') {
      uint32_t begin = at_;
      while (at_ < end_ && text_[at_] != '\n') ++at_;
      uint32_t stop = at_;
      while (stop > begin && IsBlank(text_[stop - 1])) --stop;
      if (*first_on_line) comments_.push_back(text_.substr(begin, stop - begin));
    } else {
      return;
    }
  }
}

namespace {

/// Longer ones first. Two slashes are a comment, which is passed over.
constexpr std::pair<std::string_view, TokenKind> kPunctuation[] = {
    {"<<", TokenKind::ShiftLeft},    {"<=", TokenKind::LessEqual},   {">>", TokenKind::ShiftRight},
    {">=", TokenKind::GreaterEqual}, {"==", TokenKind::EqualEqual},  {"!=", TokenKind::NotEqual},
    {"&&", TokenKind::AndAnd},       {"||", TokenKind::OrOr},        {"::", TokenKind::DoubleColon},
    {"..", TokenKind::DotDot},       {"->", TokenKind::Arrow},       {"(", TokenKind::LeftParen},
    {")", TokenKind::RightParen},    {"{", TokenKind::LeftBrace},    {"}", TokenKind::RightBrace},
    {"[", TokenKind::LeftBracket},   {"]", TokenKind::RightBracket}, {"<", TokenKind::Less},
    {">", TokenKind::Greater},       {",", TokenKind::Comma},        {"=", TokenKind::Equals},
    {"!", TokenKind::Bang},          {"&", TokenKind::Ampersand},    {"|", TokenKind::Bar},
    {"+", TokenKind::Plus},          {"*", TokenKind::Star},         {"/", TokenKind::Slash},
    {"~", TokenKind::Tilde},         {"^", TokenKind::Caret},        {"?", TokenKind::Question},
    {":", TokenKind::Colon},         {".", TokenKind::Dot},          {"-", TokenKind::Minus},
};

}  // namespace

Token Lexer::Next() {
  Token token;
  token.first_on_line = at_ == begin_;
  SkipBlank(&token.first_on_line);
  token.begin = at_;
  token.end = at_;
  if (at_ >= end_) return token;
  char c = text_[at_];
  char next = At(at_ + size_t{1});
  auto punctuation = [&](TokenKind kind, uint32_t length) {
    at_ += length;
    token.kind = kind;
    token.end = at_;
    token.text = text_.substr(token.begin, length);
    return token;
  };
  if (IsLetter(c)) return ReadName(token, TokenKind::Word);
  if (IsDigit(c)) return ReadNumber(token);
  switch (c) {
    case '%':
      // "%i % 2" and "%i %(...)": a blank that an operand follows, or a bracket.
      if (IsOperatorPercent()) return punctuation(TokenKind::Percent, 1);
      ++at_;
      return ReadName(token, TokenKind::ValueName);
    case '@':
      ++at_;
      return ReadName(token, TokenKind::Symbol);
    case '"':
      return ReadString(token);
    case '-':
      if (IsDigit(next)) return ReadNumber(token);
      if (text_.substr(at_, end_ - at_).starts_with("-inf") && !IsNameCharacter(At(at_ + size_t{4})))
        return punctuation(TokenKind::Number, 4);
      break;
    default:
      break;
  }
  for (const auto& [spelling, kind] : kPunctuation) {
    bool matches = c == spelling[0] && (spelling.size() == 1 || next == spelling[1]);
    if (matches) return punctuation(kind, static_cast<uint32_t>(spelling.size()));
  }
  // A run of what cannot be read is one complaint: a file of random bytes is not a million of them.
  uint32_t length = SequenceLength(static_cast<unsigned char>(c));
  for (uint32_t n = 1; n < length; ++n) {
    if ((static_cast<unsigned char>(At(at_ + size_t{n})) & 0xC0) != 0x80) length = 1;
  }
  std::string shown = Quoted(text_.substr(at_, length));
  at_ += length;
  std::string help;
  if (c == ';') help = "statements need nothing between them";
  if (c == '#') help = "a comment begins with '//'";
  return Complain(token, diag::E0102, "this character has no meaning here: " + shown, std::move(help));
}

bool Lexer::IsOperatorPercent() const {
  size_t at = at_ + size_t{1};
  if (At(at) == '(') return true;
  while (At(at) == ' ' || At(at) == '\t') ++at;
  char c = At(at);
  return at != at_ + size_t{1} &&
         (c == '%' || c == '(' || c == '@' || c == '-' || c == '!' || c == '~' || IsNameCharacter(c));
}

Token Lexer::ReadName(Token token, TokenKind kind) {
  uint32_t begin = at_;
  bool bare_number = kind == TokenKind::ValueName && IsDigit(At(at_));
  if (bare_number) {
    while (IsDigit(At(at_))) ++at_;
  } else {
    while (IsNameCharacter(At(at_)) ||
           (at_ != begin && At(at_) == '.' && IsNameCharacter(At(at_ + size_t{1})))) {
      ++at_;
    }
  }
  token.kind = kind;
  token.end = at_;
  token.text = text_.substr(begin, at_ - begin);
  if (token.text.empty()) {
    const char* what = kind == TokenKind::ValueName ? "a name must follow '%'" : "a name must follow '@'";
    return Complain(token, diag::E0103, what,
                    "a name is letters, digits, '_' and '.', not starting with a digit");
  }
  if (bare_number ? IsLetter(At(at_)) : IsDigit(token.text[0])) {
    while (IsNameCharacter(At(at_))) ++at_;
    return Complain(
        token, diag::E0103,
        "a name cannot start with a digit: " + Quoted(text_.substr(token.begin, at_ - token.begin)),
        "begin it with a letter or '_'");
  }
  return token;
}

Token Lexer::ReadNumber(Token token) {
  if (text_[at_] == '-') ++at_;
  bool hex = text_[at_] == '0' && (At(at_ + size_t{1}) == 'x' || At(at_ + size_t{1}) == 'X');
  uint32_t digits = at_ + (hex ? 2 : 0);
  at_ = digits;
  auto is_digit = [hex](char c) { return hex ? IsHexDigit(c) : IsDigit(c); };
  bool good = is_digit(At(at_));
  while (is_digit(At(at_))) ++at_;
  bool fraction = At(at_) == '.' && At(at_ + size_t{1}) != '.' && is_digit(At(at_ + size_t{1}));
  if (fraction) {
    ++at_;
    while (is_digit(At(at_))) ++at_;
  }
  char mark = At(at_);
  if (hex ? mark == 'p' || mark == 'P' : mark == 'e' || mark == 'E') {
    ++at_;
    if (At(at_) == '-' || At(at_) == '+') ++at_;
    good = good && IsDigit(At(at_));
    while (IsDigit(At(at_))) ++at_;
  } else if (hex && fraction) {
    good = false;
  }
  bool tail = IsNameCharacter(At(at_));
  while (IsNameCharacter(At(at_))) ++at_;
  if (At(at_) == '.' && At(at_ + size_t{1}) != '.') {
    // "1." and "1.x": a dot that neither a fraction nor a range explains.
    ++at_;
    tail = true;
    while (IsNameCharacter(At(at_))) ++at_;
  }
  token.kind = TokenKind::Number;
  token.end = at_;
  token.text = text_.substr(token.begin, at_ - token.begin);
  if (good && !tail) return token;
  return Complain(token, diag::E0104, "not a number: " + Quoted(token.text),
                  "numbers are 42, -7, 0x1F, 1.0, 2.5e-3, 0x1.8p3, inf, nan");
}

Token Lexer::ReadString(Token token) {
  ++at_;
  bool bad_escape = false;
  while (at_ < end_ && text_[at_] != '"' && text_[at_] != '\n') {
    if (text_[at_] == '\\') {
      char c = At(at_ + size_t{1});
      bool hex = c == 'x' && IsHexDigit(At(at_ + size_t{2})) && IsHexDigit(At(at_ + size_t{3}));
      if (c != '"' && c != '\\' && c != 'n' && c != 't' && !hex) bad_escape = true;
      at_ += hex ? 4 : (c == '\n' || c == '\0' ? 1 : 2);
    } else {
      ++at_;
    }
  }
  if (at_ > end_) at_ = end_;
  if (at_ >= end_ || text_[at_] != '"') {
    return Complain(token, diag::E0105, "this string has no closing '\"' on its line",
                    "a string ends on the line that it begins on; write '\\n' for a newline");
  }
  ++at_;
  if (bad_escape) {
    return Complain(token, diag::E0105, "this string holds an escape that has no meaning",
                    "the escapes are \\\", \\\\, \\n, \\t and \\x41");
  }
  token.kind = TokenKind::String;
  token.end = at_;
  token.text = text_.substr(token.begin, at_ - token.begin);
  return token;
}

uint32_t Lexer::SkipBlock(uint32_t begin, bool* closed) const {
  uint32_t depth = 1;
  bool line_start = false;
  uint32_t at = begin;
  while (at < end_) {
    char c = text_[at];
    if (c == '\n') {
      line_start = true;
      ++at;
      continue;
    }
    if (IsBlank(c)) {
      ++at;
      continue;
    }
    if (line_start && BeginsItem(text_.substr(at, end_ - at))) break;
    line_start = false;
    if (c == '/' && At(at + size_t{1}) == '/') {
      while (at < end_ && text_[at] != '\n') ++at;
    } else if (c == '"') {
      ++at;
      while (at < end_ && text_[at] != '"' && text_[at] != '\n') {
        bool escape = text_[at] == '\\' && (At(at + size_t{1}) == '"' || At(at + size_t{1}) == '\\');
        at += escape ? 2 : 1;
      }
      if (at < end_ && text_[at] == '"') ++at;
    } else {
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) {
        *closed = true;
        return at + 1;
      }
      ++at;
    }
  }
  *closed = false;
  return at < end_ ? at : end_;
}

std::string Unescape(std::string_view quoted) {
  std::string text;
  auto hex = [](char c) { return IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10; };
  for (size_t at = 1; at + 1 < quoted.size(); ++at) {
    if (quoted[at] != '\\') {
      text += quoted[at];
      continue;
    }
    char c = quoted[++at];
    if (c == 'n') {
      text += '\n';
    } else if (c == 't') {
      text += '\t';
    } else if (c == 'x') {
      text += static_cast<char>(hex(quoted[at + 1]) * 16 + hex(quoted[at + 2]));
      at += 2;
    } else {
      text += c;
    }
  }
  return text;
}

std::string Quoted(std::string_view text, size_t longest) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string shown = "'";
  size_t at = 0;
  while (at < text.size() && shown.size() < longest) {
    auto byte = static_cast<unsigned char>(text[at]);
    uint32_t length = SequenceLength(byte);
    bool whole = byte < 0x80 || (length > 1 && at + length <= text.size());
    for (uint32_t n = 1; whole && n < length; ++n) {
      whole = (static_cast<unsigned char>(text[at + n]) & 0xC0) == 0x80;
    }
    if (byte < 0x20 || byte == 0x7F || !whole) {
      shown += "\\x";
      shown += kHex[byte >> 4];
      shown += kHex[byte & 15];
      ++at;
    } else {
      shown += text.substr(at, length);
      at += length;
    }
  }
  if (at < text.size()) shown += "...";
  return shown + "'";
}

}  // namespace adc::parse

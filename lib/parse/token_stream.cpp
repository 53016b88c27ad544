#include "parse/token_stream.h"

#include "diag/errors/parse.h"
#include "parse/literal.h"
#include "support/nearest.h"

namespace adc::parse {

using ir::Type;

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::End:
      return "the end of the text";
    case TokenKind::ValueName:
      return Quoted("%" + std::string(token.text.substr(0, 64)));
    case TokenKind::Symbol:
      return Quoted("@" + std::string(token.text.substr(0, 64)));
    case TokenKind::String:
      return "a string";
    case TokenKind::Bad:
    case TokenKind::Word:
    case TokenKind::Number:
    case TokenKind::LeftParen:
    case TokenKind::RightParen:
    case TokenKind::LeftBrace:
    case TokenKind::RightBrace:
    case TokenKind::LeftBracket:
    case TokenKind::RightBracket:
    case TokenKind::Less:
    case TokenKind::Greater:
    case TokenKind::Comma:
    case TokenKind::Colon:
    case TokenKind::DoubleColon:
    case TokenKind::Equals:
    case TokenKind::Arrow:
    case TokenKind::Dot:
    case TokenKind::DotDot:
      return Quoted(token.text);
  }
  return "nothing";
}

void TokenStream::Unexpected(std::string_view what, std::string help) {
  if (token_.kind == TokenKind::Bad) return;
  // What is missing at the end of a line is missing there, not where the next line begins.
  bool behind = token_.first_on_line && previous_end_ != 0;
  Error(diag::E0101, behind ? SpanPrevious() : SpanNow(),
        "expected " + std::string(what) + (behind ? " after this, found " : ", found ") + Describe(token_))
      .AddHelp(std::move(help));
}

bool TokenStream::ExpectClosing(TokenKind kind, std::string_view what, diag::SourceSpan open) {
  if (Accept(kind)) return true;
  if (token_.kind == TokenKind::Bad) return false;
  bool behind = token_.first_on_line && previous_end_ != 0;
  Error(diag::E0118, behind ? SpanPrevious() : SpanNow(),
        "expected " + std::string(what) + (behind ? " after this, found " : ", found ") + Describe(token_))
      .AddNote(open, "the bracket is opened here");
  return false;
}

TokenKind TokenStream::PeekKind() {
  bool quiet = lexer_.Quiet();
  uint32_t offset = lexer_.Offset();
  std::vector<std::string_view> comments = lexer_.TakeComments();
  lexer_.SetQuiet(true);
  TokenKind kind = lexer_.Next().kind;
  lexer_.SetQuiet(quiet);
  lexer_.Seek(offset);
  lexer_.TakeComments();
  lexer_.PutBack(std::move(comments));
  return kind;
}

std::vector<StringId> TokenStream::TakeComments() {
  std::vector<StringId> comments;
  if (!lexer_.HasComments()) return comments;
  for (std::string_view text : lexer_.TakeComments()) comments.push_back(module().Intern(text));
  return comments;
}

std::optional<ir::Scalar> ScalarFromWord(std::string_view word) {
  for (int n = 0; n <= static_cast<int>(ir::Scalar::F64); ++n) {
    auto scalar = static_cast<ir::Scalar>(n);
    if (word == Spelling(scalar)) return scalar;
  }
  return std::nullopt;
}

namespace {

constexpr uint64_t kLongestArray = uint64_t{1} << 24;

bool BadType(TokenStream& stream, diag::SourceSpan span, std::string text, std::string help = {}) {
  stream.Error(diag::E0113, span, std::move(text)).AddHelp(std::move(help));
  return false;
}

/// A size inside '<...>', from `smallest` to `largest`.
bool ParseSize(TokenStream& stream, const char* what, uint64_t smallest, uint64_t largest, uint64_t* size) {
  if (!stream.Is(TokenKind::Number)) {
    stream.Unexpected(what);
    return false;
  }
  bool good = ReadCount(stream.Now().text, largest, size) && *size >= smallest;
  if (!good)
    BadType(stream, stream.SpanNow(),
            std::string(what) + " is from " + std::to_string(smallest) + " to " + std::to_string(largest) +
                ", not " + Quoted(stream.Now().text));
  if (!good) *size = smallest;
  stream.Advance();
  return good;
}

bool UnknownType(TokenStream& stream) {
  if (!stream.Is(TokenKind::Word)) {
    stream.Unexpected("a type");
    return false;
  }
  constexpr std::string_view kWords[] = {"i1",  "i8",  "i16", "i32", "i64", "u8",  "u16",   "u32",
                                         "u64", "f16", "f32", "f64", "vec", "mat", "array", "buffer"};
  std::string_view word = stream.Now().text;
  std::string_view nearest = word == "float"    ? "f32"
                             : word == "double" ? "f64"
                             : word == "int"    ? "i32"
                             : word == "bool"   ? "i1"
                             : word == "half"   ? "f16"
                                                : NearestName(word, kWords);
  BadType(stream, stream.SpanNow(), "no type is named " + Quoted(word),
          nearest.empty() ? std::string() : "did you mean '" + std::string(nearest) + "'?");
  stream.Advance();
  return false;
}

/// The scalar of a vector or matrix, or the element of a buffer or array.
bool ParseElement(TokenStream& stream, bool scalar_only, Type* type) {
  diag::SourceSpan place = stream.SpanNow();
  if (!ParseType(stream, type)) return false;
  if (type->IsScalar() || (!scalar_only && type->IsRegister())) return true;
  return BadType(stream, place,
                 scalar_only ? "the components of a vector or matrix are scalars"
                             : "the elements of a buffer or array are scalars, vectors or matrices");
}

}  // namespace

bool ParseType(TokenStream& stream, Type* type) {
  if (stream.Is(TokenKind::Symbol)) {
    uint32_t layout = stream.module().FindLayout(stream.module().Intern(stream.Now().text));
    if (layout == ir::kNoAttr) {
      stream.Error(diag::E0112, stream.SpanNow(), "no layout is named " + Describe(stream.Now()))
          .AddHelp("define it: 'layout @grid { dense[64] { mass: f32 } }'");
      stream.Advance();
      return false;
    }
    *type = Type::LayoutOf(layout);
    stream.Advance();
    return true;
  }
  if (!stream.Is(TokenKind::Word)) return UnknownType(stream);
  if (std::optional<ir::Scalar> scalar = ScalarFromWord(stream.Now().text)) {
    *type = Type::Of(*scalar);
    stream.Advance();
    return true;
  }
  std::string_view word = stream.Now().text;
  if (word != "vec" && word != "mat" && word != "array" && word != "buffer") return UnknownType(stream);
  stream.Advance();
  diag::SourceSpan open = stream.SpanNow();
  if (!stream.Expect(TokenKind::Less, "'<'")) return false;
  Type element;
  // Element types nest twice at most: `buffer<vec<f32, 3>, 1>`; anything deeper is refused after the
  // recursion.
  bool outer = word == "array" || word == "buffer";
  if (!outer && stream.Is(TokenKind::Word) && !ScalarFromWord(stream.Now().text) &&
      (stream.IsWord("vec") || stream.IsWord("mat") || stream.IsWord("array") || stream.IsWord("buffer")))
    return BadType(stream, stream.SpanNow(), "the components of a vector or matrix are scalars");
  if (outer && (stream.IsWord("array") || stream.IsWord("buffer")))
    return BadType(stream, stream.SpanNow(),
                   "the elements of a buffer or array are scalars, vectors or matrices");
  if (!ParseElement(stream, !outer, &element)) return false;
  if (!stream.Expect(TokenKind::Comma, "','")) return false;
  uint64_t first = 0;
  uint64_t second = 0;
  bool good = true;
  if (word == "vec") {
    good = ParseSize(stream, "the size of a vector", 2, ir::kMaxVector, &first);
    *type = Type::Vec(element.scalar, static_cast<uint32_t>(first));
  } else if (word == "mat") {
    good = ParseSize(stream, "the number of rows", 2, ir::kMaxVector, &first);
    if (good && !stream.Expect(TokenKind::Comma, "','")) return false;
    good = good && ParseSize(stream, "the number of columns", 2, ir::kMaxVector, &second);
    *type = Type::Mat(element.scalar, static_cast<uint32_t>(first), static_cast<uint32_t>(second));
  } else if (word == "array") {
    good = ParseSize(stream, "the length of an array", 1, kLongestArray, &first);
    *type = Type::Array(element, static_cast<uint32_t>(first));
  } else {
    good = ParseSize(stream, "the rank of a buffer", 0, ir::kMaxRank, &first);
    *type = Type::Buffer(element, static_cast<uint32_t>(first));
  }
  return good && stream.ExpectClosing(TokenKind::Greater, "'>'", open);
}

}  // namespace adc::parse

#include "parse/token_stream.h"

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "parse/definitions.h"
#include "parse/keywords.h"
#include "support/nearest.h"

namespace adc::parse {

using ir::Type;

std::string Describe(const Token& token) {
  if (token.kind == TokenKind::End) return "the end of the text";
  if (token.kind == TokenKind::String) return "a string";
  if (token.kind == TokenKind::ValueName) return Quoted("%" + std::string(token.text.substr(0, 64)));
  if (token.kind == TokenKind::Symbol) return Quoted("@" + std::string(token.text.substr(0, 64)));
  return Quoted(token.text);
}

bool TokenStream::Unexpected(std::string_view what, std::string help) {
  if (token_.kind != TokenKind::Bad) Missing(diag::E0101, what).AddHelp(std::move(help));
  return false;
}

diag::Diagnostic& TokenStream::Missing(diag::ErrorId id, std::string_view what) {
  // A token that is missing at the end of a line is missing there, not where the next line begins.
  bool behind = token_.first_on_line && previous_end_ != 0;
  return Error(
      id, behind ? SpanPrevious() : SpanNow(),
      "expected " + std::string(what) + (behind ? " after this, found " : ", found ") + Describe(token_));
}

bool TokenStream::ExpectClosing(TokenKind kind, std::string_view what, diag::SourceSpan open) {
  if (Accept(kind)) return true;
  if (token_.kind != TokenKind::Bad) Missing(diag::E0118, what).AddNote(open, "the bracket is opened here");
  return false;
}

bool TokenStream::Claim(std::unordered_map<StringId, diag::SourceSpan>& places, StringId name,
                        diag::SourceSpan span, const std::string& shown) {
  auto [place, fresh] = places.try_emplace(name, span);
  if (!fresh)
    Error(diag::E0110, span, shown + " is defined twice").AddNote(place->second, "it is defined here");
  return fresh;
}

TokenKind TokenStream::PeekKind() const {
  Lexer ahead = lexer_;
  ahead.SetQuiet(true);
  return ahead.Next().kind;
}

void TokenStream::SplitSign() {
  uint32_t begin = token_.begin;
  bool first_on_line = token_.first_on_line;
  lexer_.Seek(begin + 1);
  token_ = Token{TokenKind::Minus, first_on_line, begin, begin + 1, "-"};
}

std::vector<StringId> TokenStream::TakeComments() {
  std::vector<StringId> comments;
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

bool BeginsType(TokenStream& stream, std::string_view word) {
  if (ScalarFromWord(word) || IsTypeWithBrackets(word)) return true;
  if (!stream.BoundType(word).IsNone()) return true;
  const Definitions* definitions = stream.shared().definitions;
  return definitions != nullptr && definitions->NamesType(word);
}

std::optional<ir::Scalar> ScalarOf(TokenStream& stream, std::string_view word) {
  if (std::optional<ir::Scalar> scalar = ScalarFromWord(word)) return scalar;
  if (Type bound = stream.BoundType(word); bound.IsScalar()) return bound.scalar;
  if (!BeginsType(stream, word) || stream.shared().definitions == nullptr) return std::nullopt;
  std::optional<Type> named = stream.shared().definitions->FindType(word, stream.SpanNow());
  if (!named || !named->IsScalar()) return std::nullopt;
  return named->scalar;
}

namespace {

constexpr uint64_t kMostScalarsOfArray = uint64_t{1} << 24;

bool BadType(TokenStream& stream, diag::SourceSpan span, std::string text, std::string help = {}) {
  stream.Error(diag::E0113, span, std::move(text)).AddHelp(std::move(help));
  return false;
}

/// A size inside '<...>', from `smallest` to `largest`.
bool ParseSize(TokenStream& stream, const char* what, uint64_t smallest, uint64_t largest, uint64_t* size) {
  diag::SourceSpan place = stream.SpanNow();
  Count count;
  if (!ParseCount(stream, what, &count)) return false;
  bool good = count.good && count.value >= smallest && count.value <= largest;
  if (count.good && !good)
    BadType(stream, {place.begin, stream.SpanPrevious().end},
            std::string(what) + " is from " + std::to_string(smallest) + " to " + std::to_string(largest) +
                ", not " + count.text);
  *size = good ? count.value : smallest;
  return good;
}

bool UnknownType(TokenStream& stream) {
  if (!stream.Is(TokenKind::Word)) return stream.Unexpected("a type");
  std::vector<std::string_view> words = {"i1",  "i8",  "i16", "i32", "i64", "u8",  "u16",   "u32",
                                         "u64", "f16", "f32", "f64", "vec", "mat", "array", "buffer"};
  if (const Definitions* definitions = stream.shared().definitions; definitions != nullptr) {
    for (std::string_view name : definitions->TypeNames()) words.push_back(name);
  }
  std::string_view word = stream.Now().text;
  std::string_view nearest = word == "float"    ? "f32"
                             : word == "double" ? "f64"
                             : word == "int"    ? "i32"
                             : word == "bool"   ? "i1"
                             : word == "half"   ? "f16"
                                                : NearestName(word, words);
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
    StringId name = stream.module().Intern(stream.Now().text);
    if (stream.shared().definitions != nullptr) stream.shared().definitions->Resolve(name, stream.SpanNow());
    uint32_t layout = stream.module().FindLayout(name);
    if (layout == ir::kNoAttr) {
      if (!stream.MayBeDefined(name))
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
  if (Type bound = stream.BoundType(word); !bound.IsNone()) {
    *type = bound;
    stream.Advance();
    return true;
  }
  if (stream.shared().definitions != nullptr) {
    if (std::optional<Type> named = stream.shared().definitions->FindType(word, stream.SpanNow())) {
      *type = *named;
      stream.Advance();
      return !named->IsNone();
    }
  }
  if (!IsTypeWithBrackets(word)) return UnknownType(stream);
  stream.Advance();
  diag::SourceSpan open = stream.SpanNow();
  if (!stream.Expect(TokenKind::Less, "'<'")) return false;
  Type element;
  // Element types nest twice at most: `buffer<vec<f32, 3>, 1>`; anything deeper is refused after the
  // recursion.
  bool outer = word == "array" || word == "buffer";
  if (!outer && stream.Is(TokenKind::Word) && IsTypeWithBrackets(stream.Now().text))
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
    uint64_t longest = kMostScalarsOfArray / element.Components();
    good = ParseSize(stream, "the length of an array", 1, longest, &first);
    *type = Type::Array(element, static_cast<uint32_t>(first));
  } else {
    good = ParseSize(stream, "the rank of a buffer", 0, ir::kMaxRank, &first);
    *type = Type::Buffer(element, static_cast<uint32_t>(first));
  }
  return good && stream.ExpectClosing(TokenKind::Greater, "'>'", open);
}

}  // namespace adc::parse

// Text is taken as tokens with the blanks before them. A mutation works on tokens (an operation for another,
// a value for another of the same text, a number for one that arithmetic trips over), on statements (a line
// twice, away, somewhere else), or on trees (a pair of braces with its head, twice or put into another
// place).

#include "text_mutator.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace adc::fuzz {

namespace {

struct Token {
  size_t begin = 0, end = 0;
};

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

std::vector<Token> TokensOf(std::string_view text) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    size_t begin = at++;
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    if (c == '/' && at < text.size() && text[at] == '/') {
      while (at < text.size() && text[at] != '\n') ++at;
      continue;
    }
    if (IsWord(c) || c == '%' || c == '@' || c == '-') {
      while (at < text.size() && IsWord(text[at]) && text.substr(at, 2) != "..") ++at;
    }
    tokens.push_back({begin, at});
  }
  return tokens;
}

enum class Sort : uint8_t { Value, Symbol, Number, Operation, Type, Other };

constexpr std::string_view kOperations[] = {"neg",
                                            "abs",
                                            "sgn",
                                            "floor",
                                            "sqrt",
                                            "rsqrt",
                                            "rcp",
                                            "sin",
                                            "cos",
                                            "tan",
                                            "asin",
                                            "atan",
                                            "sinh",
                                            "tanh",
                                            "exp",
                                            "log",
                                            "erf",
                                            "round",
                                            "trunc",
                                            "not",
                                            "popcount",
                                            "clz",
                                            "add",
                                            "sub",
                                            "mul",
                                            "div",
                                            "rem",
                                            "mod",
                                            "pow",
                                            "atan2",
                                            "min",
                                            "max",
                                            "and",
                                            "or",
                                            "xor",
                                            "shl",
                                            "shr",
                                            "eq",
                                            "ne",
                                            "lt",
                                            "le",
                                            "gt",
                                            "ge",
                                            "select",
                                            "fma",
                                            "clamp",
                                            "load",
                                            "store",
                                            "atomic add",
                                            "atomic max",
                                            "atomic exchange",
                                            "stop_gradient",
                                            "cast",
                                            "break",
                                            "yield",
                                            "continue",
                                            "exit",
                                            "floordiv",
                                            "norm",
                                            "dot",
                                            "cross",
                                            "normalize",
                                            "mat.mul",
                                            "transpose",
                                            "inverse",
                                            "det"};
constexpr std::string_view kTypes[] = {"i1",
                                       "i8",
                                       "i16",
                                       "i32",
                                       "i64",
                                       "u8",
                                       "u16",
                                       "u32",
                                       "u64",
                                       "f16",
                                       "f32",
                                       "f64",
                                       "vec<f32, 3>",
                                       "mat<f64, 2, 2>",
                                       "buffer<f32, 1>",
                                       "buffer<i32, 0>"};
constexpr std::string_view kNumbers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "7",
                                         "16",
                                         "31",
                                         "32",
                                         "64",
                                         "255",
                                         "256",
                                         "-128",
                                         "65535",
                                         "2147483647",
                                         "-2147483648",
                                         "4294967296",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "0.0",
                                         "-0.0",
                                         "0.5",
                                         "1.0",
                                         "1e30",
                                         "1e-45",
                                         "inf",
                                         "-inf",
                                         "nan",
                                         "0x1p-126"};
constexpr std::string_view kAttributes[] = {"diff",   "readonly",     "alias",      "writeonce", "reversed",
                                            "step 2", "unroll",       "checkpoint", "max 7",     "block 64",
                                            "step 3", "checkpoint 4", "if_read"};

template <class List>
bool Holds(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

Sort SortOf(std::string_view word) {
  if (word[0] == '%') return Sort::Value;
  if (word[0] == '@') return Sort::Symbol;
  if ((word[0] >= '0' && word[0] <= '9') || (word[0] == '-' && word.size() > 1)) return Sort::Number;
  if (Holds(kTypes, word)) return Sort::Type;
  if (Holds(kOperations, word)) return Sort::Operation;
  return Sort::Other;
}

class Mutation {
 public:
  Mutation(std::string text, const std::vector<std::string>& others, uint64_t seed)
      : text_(std::move(text)), others_(others), random_(seed) {}

  std::string Run() {
    for (size_t count = 1 + Below(4); count > 0 && !text_.empty(); --count) Change();
    return std::move(text_);
  }

 private:
  size_t Below(size_t count) { return count == 0 ? 0 : random_() % count; }
  template <class List>
  std::string Pick(const List& list) {
    return std::string(list[Below(std::size(list))]);
  }

  void Change() {
    switch (Below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return ChangeToken();
      case 5:
        return RepeatLine();
      case 6:
        return TakeLineAway();
      case 7:
        return MoveLine();
      case 8:
        return CopyTree(text_);
      case 9:
        if (!others_.empty()) CopyTree(others_[Below(others_.size())]);
        return;
      case 10:
        return WrapLine();
      case 11:
        return AddAttribute();
    }
  }

  void ChangeToken() {
    std::vector<Token> tokens = TokensOf(text_);
    if (tokens.empty()) return;
    Token token = tokens[Below(tokens.size())];
    std::string word = text_.substr(token.begin, token.end - token.begin);
    Sort sort = SortOf(word);
    std::string other;
    if (sort == Sort::Number && Below(2) == 0) other = Pick(kNumbers);
    if (sort == Sort::Type) other = Pick(kTypes);
    if (sort == Sort::Operation) other = Pick(kOperations);
    if (sort == Sort::Value && Below(8) == 0) other = Pick(kNumbers);
    for (int attempt = 0; attempt < 16 && other.empty(); ++attempt) {
      Token from = tokens[Below(tokens.size())];
      std::string candidate = text_.substr(from.begin, from.end - from.begin);
      if (SortOf(candidate) == sort) other = candidate;
    }
    if (!other.empty()) text_.replace(token.begin, token.end - token.begin, other);
  }

  /// The line around a place, its newline with it.
  Token LineAt(size_t place) const {
    size_t begin = text_.rfind('\n', place == 0 ? 0 : place - 1);
    begin = begin == std::string::npos || place == 0 ? 0 : begin + 1;
    size_t end = text_.find('\n', place);
    return {begin, end == std::string::npos ? text_.size() : end + 1};
  }

  /// `text` with a new name for each value that its first line defines, so that it may stand beside itself.
  std::string Renamed(std::string line) {
    size_t equals = line.find(" = ");
    size_t percent = line.find('%');
    if (percent == std::string::npos || equals == std::string::npos || percent > equals) return line;
    return line.insert(percent + 1, "n" + std::to_string(random_() % 10000));
  }

  void RepeatLine() {
    Token line = LineAt(Below(text_.size()));
    text_.insert(line.end, Renamed(text_.substr(line.begin, line.end - line.begin)));
  }

  void TakeLineAway() {
    Token line = LineAt(Below(text_.size()));
    text_.erase(line.begin, line.end - line.begin);
  }

  void MoveLine() {
    Token line = LineAt(Below(text_.size()));
    std::string moved = text_.substr(line.begin, line.end - line.begin);
    text_.erase(line.begin, line.end - line.begin);
    text_.insert(LineAt(Below(text_.size())).begin, moved);
  }

  /// Copies a pair of braces with the head of its line from `source` to some line.
  void CopyTree(std::string source) {
    std::vector<size_t> opens;
    for (size_t at = 0; at < source.size(); ++at) {
      if (source[at] == '{') opens.push_back(at);
    }
    if (opens.empty()) return;
    size_t open = opens[Below(opens.size())], end = open;
    for (size_t depth = 0; end < source.size(); ++end) {
      depth += source[end] == '{';
      depth -= source[end] == '}';
      if (depth == 0) break;
    }
    size_t begin = source.rfind('\n', open);
    begin = begin == std::string::npos ? 0 : begin + 1;
    std::string tree = Renamed(source.substr(begin, end + 1 - begin)) + "\n";
    text_.insert(LineAt(Below(text_.size())).begin, tree);
  }

  /// A line in a loop or a branch of its own.
  void WrapLine() {
    Token line = LineAt(Below(text_.size()));
    static constexpr std::string_view kHeads[] = {"if (lt 1, 2) {\n", "for %w in 0..3 {\n",
                                                  "parallel %w in 0..2 {\n", "for %w in 0..2 unroll {\n",
                                                  "for %w in 0..9 reversed {\n"};
    text_.insert(line.end, "}\n");
    text_.insert(line.begin, Pick(kHeads));
  }

  void AddAttribute() {
    std::vector<Token> tokens = TokensOf(text_);
    if (!tokens.empty()) text_.insert(tokens[Below(tokens.size())].end, " " + Pick(kAttributes));
  }

  std::string text_;
  const std::vector<std::string>& others_;
  std::mt19937_64 random_;
};

}  // namespace

std::string MutateText(std::string_view text, const std::vector<std::string>& others, uint64_t seed) {
  return Mutation(std::string(text), others, seed).Run();
}

}  // namespace adc::fuzz

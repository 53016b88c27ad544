// Formatting works on tokens, not on the module, which knows neither expressions nor comments after
// statements. Newlines end nothing in this language, so that a line break may stand between any two tokens:
// no decision here changes the meaning of the text. The task is to find out where statements begin.
//
// Two operands never follow each other, and few words follow an operand inside of a statement (`carry`, `to`,
// `block`). So a name, a symbol or another word after the end of an operand begins a statement. The formatter
// breaks the line there, around braces, and where the writer did.

#include "parse/format.h"

#include <algorithm>
#include <vector>

#include "diag/errors/parse.h"
#include "ir/words.h"
#include "parse/keywords.h"
#include "parse/lexer.h"
#include "parse/literal.h"
#include "parse/token_stream.h"

namespace adc::parse {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kStep = 2, kContinuation = 4;

struct Comment {
  std::string_view text;
  bool own_line = false;
  bool blank_above = false;
};

/// A token and what stands before it.
struct Piece {
  Token token;
  std::string_view raw;
  std::vector<Comment> comments;
  bool newline = false;      ///< it is the first of its line
  bool blank_above = false;  ///< a line without anything above it, or above the comments
  bool space = false;        ///< something stands between it and the token before it
};

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words that raising writes after operands.
bool IsRaisedWord(std::string_view word) {
  return std::ranges::any_of(
      ir::kWords, [&](const ir::WordInfo& each) { return ir::IsRaised(each) && each.spelling == word; });
}

/// Words that go on with a statement after an operand.
bool GoesOn(std::string_view word) {
  if (IsRaisedWord(word) || IsOneOf(word, {"lanes", "turns", "waking", "copies", "reach"})) return true;
  return IsOneOf(word, {"carry", "step",  "reversed", "unroll", "checkpoint", "steps",  "apart",
                        "max",   "or",    "none",     "block",  "workgroup",  "serial", "to",
                        "at",    "plain", "shared",   "unset",  "either",     "over",   "in"});
}

/// Words before a '(' that is no list of arguments.
bool IsKeyword(std::string_view word) {
  return IsOneOf(word, {"if", "yield", "return", "continue_if", "break", "continue", "exit", "in", "step",
                        "max", "while", "assert", "at", "to"});
}

class Formatter {
 public:
  Formatter(const diag::SourceFile& file, diag::Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  bool Run(std::string* formatted) {
    if (!Read()) return false;
    Classify();
    Write();
    *formatted = std::move(out_);
    return true;
  }

 private:
  /// The kind of the brackets around a token.
  enum class Around : uint8_t { Items, Body, Layout, Signature, Round, Square, Type };

  // ---- reading

  bool Read() {
    std::string_view text = file_.text;
    uint32_t begin = text.starts_with(kByteOrderMark) ? 3 : 0;
    uint32_t errors = diagnostics_.ErrorTotal();
    Lexer lexer(file_, begin, static_cast<uint32_t>(text.size()), diagnostics_);
    uint32_t last = begin;
    for (;;) {
      Piece piece;
      piece.token = lexer.Next();
      if (diagnostics_.Full()) return false;
      piece.raw = text.substr(piece.token.begin, piece.token.end - piece.token.begin);
      ReadGap(text.substr(last, piece.token.begin - last), &piece);
      last = piece.token.end;
      pieces_.push_back(std::move(piece));
      if (pieces_.back().token.kind == TokenKind::End) break;
    }
    return diagnostics_.ErrorTotal() == errors && CheckBrackets(lexer);
  }

  /// Blanks and comments in front of a token.
  static void ReadGap(std::string_view gap, Piece* piece) {
    int newlines = 0;
    bool first = true;
    piece->space = !gap.empty();
    for (size_t at = 0; at < gap.size(); ++at) {
      if (gap[at] == '\n') ++newlines;
      if (gap[at] != '/') continue;
      size_t end = std::min(gap.find('\n', at), gap.size());
      size_t stop = end;
      while (stop > at && static_cast<unsigned char>(gap[stop - 1]) <= ' ') --stop;
      piece->comments.push_back({gap.substr(at, stop - at), newlines > 0 || !first, newlines > 1});
      first = false;
      newlines = 0;
      at = end - 1;
    }
    piece->newline = newlines > 0 || !piece->comments.empty();
    piece->blank_above = newlines > 1;
  }

  bool CheckBrackets(Lexer& lexer) {
    std::vector<const Token*> open;
    auto closing = [](TokenKind kind) {
      return kind == TokenKind::LeftBrace     ? TokenKind::RightBrace
             : kind == TokenKind::LeftParen   ? TokenKind::RightParen
             : kind == TokenKind::LeftBracket ? TokenKind::RightBracket
                                              : TokenKind::End;
    };
    for (const Piece& piece : pieces_) {
      TokenKind kind = piece.token.kind;
      diag::SourceSpan span = lexer.SpanOf(piece.token.begin, piece.token.end);
      if (closing(kind) != TokenKind::End) open.push_back(&piece.token);
      bool closes = kind == TokenKind::RightBrace || kind == TokenKind::RightParen ||
                    kind == TokenKind::RightBracket || kind == TokenKind::End;
      if (!closes || (kind == TokenKind::End && open.empty())) continue;
      if (!open.empty() && closing(open.back()->kind) == kind) {
        open.pop_back();
        continue;
      }
      bool surplus = open.empty();
      diag::SourceSpan place = surplus ? span : lexer.SpanOf(open.back()->begin, open.back()->end);
      diagnostics_.Error(
          diag::E0118, place,
          surplus ? "this " + Quoted(piece.raw) + " closes nothing"
                  : "this " + Quoted(file_.text.substr(open.back()->begin, 1)) + " has no closing partner");
      return false;
    }
    return true;
  }

  // ---- what tokens are

  const Piece& At(size_t n) const { return pieces_[std::min(n, pieces_.size() - 1)]; }
  TokenKind Kind(size_t n) const { return At(n).token.kind; }
  bool IsWord(size_t n, std::string_view word) const {
    return Kind(n) == TokenKind::Word && At(n).token.text == word;
  }

  void Classify() {
    around_.resize(pieces_.size());
    ends_operand_.assign(pieces_.size(), 0);
    is_type_bracket_.assign(pieces_.size(), 0);
    is_prefix_.assign(pieces_.size(), 0);
    begins_.assign(pieces_.size(), 0);
    std::vector<Around> stack{Around::Items};
    bool layout = false;
    for (size_t n = 0; n < pieces_.size(); ++n) {
      TokenKind kind = Kind(n);
      if (kind == TokenKind::Greater && stack.back() == Around::Type) {
        stack.pop_back();
        is_type_bracket_[n] = 1;
      }
      if ((kind == TokenKind::RightBrace || kind == TokenKind::RightParen ||
           kind == TokenKind::RightBracket)) {
        while (stack.size() > 1 && stack.back() == Around::Type) stack.pop_back();
        if (stack.size() > 1) stack.pop_back();
      }
      around_[n] = stack.back();
      if (stack.back() == Around::Items && kind == TokenKind::Word) layout = IsWord(n, "layout");
      begins_[n] = BeginsStatement(n) ? 1 : 0;
      Judge(n);
      if (kind == TokenKind::LeftBrace) stack.push_back(layout ? Around::Layout : Around::Body);
      if (kind == TokenKind::LeftParen)
        stack.push_back(stack.back() == Around::Items ? Around::Signature : Around::Round);
      if (kind == TokenKind::LeftBracket) stack.push_back(Around::Square);
      if (kind == TokenKind::Less && OpensType(n)) {
        stack.push_back(Around::Type);
        is_type_bracket_[n] = 1;
      }
    }
  }

  bool OpensType(size_t n) const {
    if (n == 0) return false;
    if (Kind(n - 1) == TokenKind::Word) return IsTypeWithBrackets(At(n - 1).token.text);
    return Kind(n - 1) == TokenKind::Symbol && Kind(n + 1) == TokenKind::Word &&
           Kind(n + 2) == TokenKind::Greater && Kind(n + 3) == TokenKind::LeftParen;
  }

  /// Whether the token ends an operand, and whether it is an operator in front of one.
  void Judge(size_t n) {
    TokenKind kind = Kind(n);
    bool after_operand = n != 0 && ends_operand_[n - 1] != 0 && begins_[n] == 0;
    constexpr TokenKind kEnds[] = {TokenKind::ValueName, TokenKind::Symbol,     TokenKind::Number,
                                   TokenKind::String,    TokenKind::RightParen, TokenKind::RightBracket};
    if (std::ranges::find(kEnds, kind) != std::end(kEnds)) ends_operand_[n] = 1;
    if (kind == TokenKind::Greater) ends_operand_[n] = is_type_bracket_[n];
    if (kind == TokenKind::Minus || kind == TokenKind::Bang || kind == TokenKind::Tilde)
      is_prefix_[n] = after_operand ? 0 : 1;
    if (kind != TokenKind::Word) return;
    std::string_view word = At(n).token.text;
    bool type =
        n != 0 && (Kind(n - 1) == TokenKind::Colon || IsWord(n - 1, "to") || IsWord(n - 1, "alloca") ||
                   IsWord(n - 1, "stack.new") || IsWord(n - 1, "identity"));
    bool part = n != 0 && (Kind(n - 1) == TokenKind::Dot || Kind(n - 1) == TokenKind::DoubleColon);
    ends_operand_[n] = IsLiteralWord(word) || part || (type && !IsTypeWithBrackets(word)) ||
                       IsOneOf(word, {"plain", "either", "shared", "barrier"}) || IsRaisedWord(word);
  }

  bool BeginsItem(size_t n) const {
    if (Kind(n) != TokenKind::Word || around_[n] != Around::Items) return false;
    std::string_view word = At(n).token.text;
    if (word == "import") return Kind(n + 1) == TokenKind::String;
    if (word == "type") return Kind(n + 1) == TokenKind::Word && Kind(n + 2) == TokenKind::Equals;
    return IsOneOf(word, {"kernel", "func", "layout", "const"}) && Kind(n + 1) == TokenKind::Symbol;
  }
  bool BeginsBlock(size_t n) const {
    return BeginsItem(n) && IsOneOf(At(n).token.text, {"kernel", "func", "layout"});
  }

  /// The first token of an item, a statement or a member of a layout.
  bool BeginsStatement(size_t n) const {
    TokenKind kind = Kind(n);
    if (kind == TokenKind::End) return true;
    bool first = n == 0 || Kind(n - 1) == TokenKind::LeftBrace || Kind(n - 1) == TokenKind::RightBrace;
    switch (around_[n]) {
      case Around::Items:
        return n == 0 || BeginsItem(n);
      case Around::Layout:
        return first ||
               (kind == TokenKind::Word && (Kind(n + 1) == TokenKind::Colon ||
                                            (IsWord(n, "dense") && Kind(n + 1) == TokenKind::LeftBracket)));
      case Around::Body: {
        if (kind == TokenKind::RightBrace) return false;
        if (first) return !(IsWord(n, "else") || IsWord(n, "do")) || Kind(n - 1) == TokenKind::LeftBrace;
        bool begins = kind == TokenKind::ValueName || kind == TokenKind::Symbol ||
                      (kind == TokenKind::Word && !GoesOn(At(n).token.text));
        return begins && ends_operand_[n - 1] != 0;
      }
      case Around::Signature:
      case Around::Round:
      case Around::Square:
      case Around::Type:
        return false;
    }
    return false;
  }

  // ---- writing

  void Write() {
    if (std::string_view(file_.text).starts_with(kByteOrderMark)) out_ = kByteOrderMark;
    size_t depth = 0;
    for (size_t n = 0; n < pieces_.size(); ++n) {
      const Piece& piece = pieces_[n];
      TokenKind kind = piece.token.kind;
      bool closes = kind == TokenKind::RightBrace;
      if (closes && depth > 0) --depth;
      bool opened = n != 0 && Kind(n - 1) == TokenKind::LeftBrace;
      bool begins = begins_[n] != 0 || closes || opened;
      bool joins = IsWord(n, "else") || IsWord(n, "do");  // on the line of the '}'
      size_t comment_depth = closes ? depth + 1 : depth;
      bool blank = WriteComments(n, (comment_depth * kStep) + (begins || joins ? 0 : kContinuation));
      if (kind == TokenKind::End) break;
      bool forced = !piece.comments.empty();
      bool breaks = begins || forced || (piece.newline && !joins);
      if (n == 0 && out_.size() <= kByteOrderMark.size() && piece.comments.empty()) {
        out_ += Spelling(n);
      } else if (breaks) {
        bool wants_blank = !blank && begins && !closes && !opened && WantsBlankLine(n);
        if (out_.ends_with('\n')) {
          if (wants_blank && !piece.comments.empty() && piece.blank_above) out_ += '\n';
        } else {
          out_ += wants_blank ? "\n\n" : "\n";
        }
        bool close_round = kind == TokenKind::RightParen || kind == TokenKind::RightBracket;
        bool flush = begins || joins || close_round || (kind == TokenKind::LeftBrace);
        out_.append(depth * kStep + (flush ? 0 : kContinuation), ' ');
        out_ += Spelling(n);
      } else {
        if (NeedsSpace(n)) out_ += ' ';
        out_ += Spelling(n);
      }
      if (kind == TokenKind::LeftBrace) ++depth;
    }
    if (!out_.empty() && !out_.ends_with('\n')) out_ += '\n';
  }

  /// Comments in front of token `n`; the first may stand after the token before it, on its line. Returns
  /// whether a blank line was set above them, and they are on lines of their own.
  bool WriteComments(size_t n, size_t indent) {
    const Piece& piece = pieces_[n];
    bool opened = n != 0 && Kind(n - 1) == TokenKind::LeftBrace;
    bool above = false;
    for (size_t c = 0; c < piece.comments.size(); ++c) {
      const Comment& comment = piece.comments[c];
      bool start = out_.size() <= kByteOrderMark.size();
      if (!comment.own_line && n != 0 && !start) {
        out_ += "  ";
        out_ += comment.text;
        out_ += '\n';
        continue;
      }
      if (!start && !out_.ends_with('\n')) out_ += '\n';
      bool first_own = c == 0 || !piece.comments[c - 1].own_line;
      bool blank = comment.blank_above && !(opened && first_own);
      // The comments above an item belong to it.
      if (first_own && begins_[n] != 0 && !opened && !blank && AfterOrBeforeBlock(n)) blank = true;
      if (!start && blank) out_ += '\n';
      out_.append(indent, ' ');
      out_ += comment.text;
      out_ += '\n';
      above = true;
    }
    return above && !piece.blank_above;
  }

  /// Whether a blank line separates the item at `n` from the one before it, whatever the writer set.
  bool AfterOrBeforeBlock(size_t n) const {
    if (around_[n] != Around::Items || n == 0) return false;
    return BeginsBlock(n) || Kind(n - 1) == TokenKind::RightBrace;
  }
  bool WantsBlankLine(size_t n) const { return pieces_[n].blank_above || AfterOrBeforeBlock(n); }

  /// A sign that was written onto a number where it is an operator: `%a -1`.
  bool IsGluedSign(size_t n) const {
    return Kind(n) == TokenKind::Number && At(n).raw.starts_with('-') && n != 0 &&
           ends_operand_[n - 1] != 0 && begins_[n] == 0;
  }
  std::string Spelling(size_t n) const {
    std::string text(At(n).raw);
    if (IsGluedSign(n)) text.insert(1, " ");
    return text;
  }

  bool NeedsSpace(size_t n) const {
    TokenKind kind = Kind(n), before = Kind(n - 1);
    if (before == TokenKind::LeftParen || before == TokenKind::LeftBracket || before == TokenKind::Dot ||
        before == TokenKind::DotDot || before == TokenKind::DoubleColon || is_prefix_[n - 1] != 0)
      return false;
    if (before == TokenKind::Less && is_type_bracket_[n - 1] != 0) return false;
    if (kind == TokenKind::Colon || before == TokenKind::Colon)
      return ColonSpace(kind == TokenKind::Colon ? n : n - 1, kind == TokenKind::Colon);
    bool closes = kind == TokenKind::RightParen || kind == TokenKind::RightBracket ||
                  kind == TokenKind::Comma || kind == TokenKind::Dot || kind == TokenKind::DotDot ||
                  kind == TokenKind::DoubleColon;
    if (closes) return false;
    if (kind == TokenKind::Less || kind == TokenKind::Greater) return is_type_bracket_[n] == 0;
    if (kind == TokenKind::LeftBracket) return !(ends_operand_[n - 1] != 0 || IsWord(n - 1, "dense"));
    if (kind != TokenKind::LeftParen) return true;
    if (before == TokenKind::Symbol || IsWord(n - 1, "carry") || IsWord(n - 1, "shape")) return false;
    if (before == TokenKind::Greater && is_type_bracket_[n - 1] != 0) return false;
    // `sin(%a)` is a call, `add (sin %a), 1.0` has an operand in parentheses: both as they were written.
    return before != TokenKind::Word || IsKeyword(At(n - 1).token.text) || At(n).space;
  }

  /// `%x: f32`, `1.0:f64`, `const @eps = 1e-6 : f32`, `%c ? %a : %b`: blanks before and after a ':'.
  bool ColonSpace(size_t colon, bool before) const {
    if (around_[colon] == Around::Layout || around_[colon] == Around::Signature) return !before;
    bool literal_type = Kind(colon - 1) == TokenKind::Number || IsLiteralWord(At(colon - 1).token.text);
    literal_type = literal_type && Kind(colon + 1) == TokenKind::Word && around_[colon] != Around::Items;
    return !literal_type || At(colon).space;
  }

  const diag::SourceFile& file_;
  diag::Diagnostics& diagnostics_;
  std::vector<Piece> pieces_;  ///< the last one is the end
  std::vector<Around> around_;
  std::vector<unsigned char> ends_operand_, is_type_bracket_, is_prefix_, begins_;
  std::string out_;
};

}  // namespace

bool FormatText(const diag::SourceFile& file, diag::Diagnostics& diagnostics, std::string* formatted) {
  return Formatter(file, diagnostics).Run(formatted);
}

}  // namespace adc::parse

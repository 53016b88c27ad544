#include "parse/items.h"

#include <algorithm>

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "ir/param_words.h"
#include "parse/generics.h"
#include "parse/keywords.h"
#include "support/nearest.h"

namespace adc::parse {

using ir::Type;
using ItemKind = ir::Module::ItemKind;

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The reason why a word cannot be the name of a type: a dot, or a meaning that it has already.
std::string WhyNoTypeName(std::string_view word) {
  if (word.find('.') != std::string_view::npos) return " has a dot, the name of a type has none";
  if (ScalarFromWord(word) || IsTypeWithBrackets(word)) return " is a type already";
  if (ir::OpFromSpelling(word)) return " is an operation already";
  for (std::string_view taken :
       {"true",   "false", "inf",    "nan",  "else",  "do",    "atomic",  "kernel", "func",
        "layout", "const", "import", "type", "dense", "carry", "step",    "max",    "or",
        "none",   "to",    "at",     "over", "in",    "diff",  "readonly"}) {
    if (word == taken) return " has another meaning";
  }
  return {};
}

class ItemParser {
 public:
  ItemParser(Shared& shared, const diag::SourceFile& file, bool imported, Gathered& gathered)
      : shared_(shared),
        file_(file),
        imported_(imported),
        gathered_(gathered),
        stream_(shared, file, file.text.starts_with(kByteOrderMark) ? 3 : 0,
                static_cast<uint32_t>(file.text.size())) {}

  void Parse() {
    while (!stream_.Full()) {
      comments_ = std::exchange(held_, {});
      for (StringId comment : stream_.TakeComments()) comments_.push_back(comment);
      if (stream_.Is(TokenKind::End)) break;
      bool good = true;
      if (stream_.AcceptWord("import")) {
        good = ParseImport();
      } else if (stream_.AcceptWord("const")) {
        good = FindDefinition(Definitions::Kind::Constant);
      } else if (stream_.AcceptWord("layout")) {
        good = FindDefinition(Definitions::Kind::Layout);
      } else if (stream_.AcceptWord("type")) {
        good = FindType();
      } else if (stream_.IsWord("func") || stream_.IsWord("kernel")) {
        good = FindFunction();
      } else {
        ReportStranger();
        good = false;
      }
      if (!good) SkipToItem();
    }
    if (imported_) return;
    std::vector<StringId>& trailing = shared_.module.trailing_comments;
    trailing.insert(trailing.end(), comments_.begin(), comments_.end());
  }

 private:
  ir::Module& module() { return shared_.module; }
  std::string Shown(StringId symbol) { return "'@" + std::string(module().Text(symbol)) + "'"; }

  void ReportStranger() {
    if (stream_.Is(TokenKind::RightBrace)) {
      stream_.Error(diag::E0118, stream_.SpanNow(), "this '}' closes nothing");
      return;
    }
    std::string help;
    if (stream_.Is(TokenKind::Word)) {
      constexpr std::string_view kWords[] = {"kernel", "func", "layout", "const", "import", "type"};
      std::string_view word = stream_.Now().text;
      std::string_view nearest =
          word == "function" || word == "fn" || word == "def" ? "func" : NearestName(word, kWords);
      if (!nearest.empty()) help = "did you mean '" + std::string(nearest) + "'?";
    } else if (stream_.Is(TokenKind::ValueName)) {
      help = "statements stand inside of a kernel or function";
    }
    stream_.Unexpected("'kernel', 'func', 'layout', 'const' or 'import'", std::move(help));
  }

  bool AtItem() {
    if (!stream_.Is(TokenKind::Word)) return false;
    std::string_view word = stream_.Now().text;
    if (word == "import") return stream_.PeekKind() == TokenKind::String;
    if (word == "type") return stream_.Now().first_on_line && stream_.PeekKind() == TokenKind::Word;
    if (word != "kernel" && word != "func" && word != "layout" && word != "const") return false;
    return stream_.PeekKind() == TokenKind::Symbol;
  }

  /// Passes over what is not read now, blocks as wholes, up to the next item, or in a block up to its end.
  void SkipToItem(bool in_block = false) {
    stream_.lexer().SetQuiet(true);
    while (!stream_.Is(TokenKind::End) && !AtItem()) {
      if (stream_.Is(TokenKind::LeftBrace)) {
        stream_.SkipBlock();
      } else if (in_block && stream_.Is(TokenKind::RightBrace)) {
        break;
      } else {
        stream_.Advance();
      }
    }
    stream_.lexer().SetQuiet(false);
  }

  void AddItem(ItemKind kind, size_t position) {
    module().items.push_back({kind, static_cast<uint32_t>(position), imported_});
  }

  bool ParseImport() {
    diag::SourceSpan span = stream_.SpanNow();
    if (!stream_.Is(TokenKind::String)) return stream_.Unexpected("the path of a file in quotes");
    std::string path = Unescape(stream_.Now().text);
    stream_.Advance();
    AddItem(ItemKind::Import, module().imports.size());
    module().imports.push_back({module().Intern(path), span, std::move(comments_)});
    gathered_.imports.push_back({std::move(path), span, &file_});
    return true;
  }

  /// `const @eps = ...`, `layout @grid { ... }`: read when everything is found.
  bool FindDefinition(Definitions::Kind kind) {
    Definitions::Definition definition;
    definition.kind = kind;
    definition.file = &file_;
    definition.comments = std::move(comments_);
    definition.span = stream_.SpanNow();
    definition.name = stream_.Is(TokenKind::Symbol) ? module().Intern(stream_.Now().text) : StringId();
    bool layout = kind == Definitions::Kind::Layout;
    if (!stream_.Expect(TokenKind::Symbol,
                        layout ? "the name of the layout ('@grid')" : "the name of the constant ('@eps')"))
      return false;
    definition.begin = stream_.Now().begin;
    SkipToItem(true);  // it is read again, aloud
    definition.end = stream_.Now().begin;
    if (stream_.Claim(gathered_.symbols, definition.name, definition.span, Shown(definition.name))) {
      definition.item = module().items.size();
      AddItem(layout ? ItemKind::Layout : ItemKind::Constant, ir::kNoAttr);
    }
    shared_.definitions->Add(std::move(definition));
    return true;
  }

  /// `type real = f32`: the name of a type, of which nothing is left in the module.
  bool FindType() {
    Definitions::Definition definition;
    definition.kind = Definitions::Kind::Type;
    definition.file = &file_;
    definition.span = stream_.SpanNow();
    std::string_view word = stream_.Now().text;
    definition.name = module().Intern(word);
    if (!stream_.Expect(TokenKind::Word, "the name of the type")) return false;
    held_ = std::move(comments_);  // they belong to what follows
    definition.begin = stream_.Now().begin;
    std::string what = WhyNoTypeName(word);
    if (!what.empty()) {
      stream_.Error(diag::E0103, definition.span, Quoted(word) + what)
          .AddHelp("choose another name, as 'real'");
      return false;
    }
    if (!stream_.Claim(gathered_.types, definition.name, definition.span, "type " + Quoted(word)))
      return false;
    stream_.lexer().SetQuiet(true);
    while (!stream_.Is(TokenKind::End) && !stream_.Is(TokenKind::RightBrace) && !AtItem()) stream_.Advance();
    stream_.lexer().SetQuiet(false);
    definition.end = stream_.Now().begin;
    shared_.definitions->Add(std::move(definition));
    return true;
  }

  bool FindFunction() {
    PendingFunction pending;
    pending.file = &file_;
    pending.kind = stream_.IsWord("kernel") ? ir::FunctionKind::Kernel : ir::FunctionKind::Function;
    pending.signature = stream_.Now().end;
    pending.comments = std::move(comments_);
    pending.item = module().items.size();
    AddItem(ItemKind::Function, ir::kNoAttr);
    diag::SourceSpan word = stream_.SpanNow();
    stream_.lexer().SetQuiet(true);  // the signature is read again, aloud
    do {
      stream_.Advance();
    } while (!stream_.Is(TokenKind::End) && !stream_.Is(TokenKind::LeftBrace) &&
             !stream_.Is(TokenKind::RightBrace) && !(stream_.Now().first_on_line && AtItem()));
    stream_.lexer().SetQuiet(false);
    pending.body = stream_.Now().begin;
    bool has_body = stream_.Is(TokenKind::LeftBrace);
    if (has_body) {
      bool closed = false;
      pending.end = stream_.lexer().SkipBlock(stream_.Now().end, &closed);
      stream_.Resume(pending.end);
    } else {
      pending.end = pending.body;
      stream_.Error(diag::E0101, word, "this has no body").AddHelp("write '{ ... }' after the signature");
      pending.bad_signature = true;
    }
    gathered_.functions.push_back(std::move(pending));
    return true;
  }

  Shared& shared_;
  const diag::SourceFile& file_;
  bool imported_;
  Gathered& gathered_;
  TokenStream stream_;
  std::vector<StringId> comments_;
  std::vector<StringId> held_;  ///< comments above what leaves nothing in the module
};

class SignatureParser {
 public:
  SignatureParser(Shared& shared, PendingFunction& pending, Gathered& gathered)
      : shared_(shared),
        pending_(pending),
        gathered_(gathered),
        stream_(shared, *pending.file, pending.signature, pending.body) {}

  void Parse() {
    diag::SourceSpan span = stream_.SpanNow();
    StringId name = pending_.instance;
    bool good = true;
    if (name.Valid()) {
      span = pending_.name_span;
      stream_.Bind(pending_.bound_word, pending_.bound_type);
    } else {
      if (stream_.Is(TokenKind::Symbol)) name = shared_.module.Intern(stream_.Now().text);
      good = pending_.bad_signature ? name.Valid() : stream_.Expect(TokenKind::Symbol, "a name ('@f')");
      if (pending_.bad_signature && good) stream_.Advance();
      if (good && !pending_.bad_signature && stream_.Is(TokenKind::Less)) {
        ParseGeneric(name, span);
        return;
      }
    }
    MakeFunction(name, span);
    ir::Function& function = *pending_.function;
    function.leading_comments = std::move(pending_.comments);
    function.span = span;
    good = good && ParseParams() && ParseResults() && ParseDerivatives();
    if (good && !pending_.bad_signature && !stream_.Is(TokenKind::End)) {
      stream_.Unexpected("'{'");
      good = false;
    }
    if (good && !pending_.bad_signature) return;
    pending_.bad_signature = true;
    function.broken = true;
    if (name.Valid()) gathered_.unsure.emplace(name, true);
  }

 private:
  ir::Module& module() { return shared_.module; }
  std::string Shown(StringId symbol) { return "'@" + std::string(module().Text(symbol)) + "'"; }

  /// `@f<T>`: the function is made for each float type that it is called with.
  void ParseGeneric(StringId name, diag::SourceSpan span) {
    diag::SourceSpan open = stream_.SpanNow();
    stream_.Advance();
    std::string_view word = stream_.Now().text;
    diag::SourceSpan word_span = stream_.SpanNow();
    bool good = stream_.Expect(TokenKind::Word, "the name of a float type, as in '@f<T>'") &&
                stream_.ExpectClosing(TokenKind::Greater, "'>'", open);
    std::string what = good ? WhyNoTypeName(word) : std::string();
    if (good && shared_.definitions->NamesType(word)) what = " names a type of the file";
    if (!what.empty())
      stream_.Error(diag::E0103, word_span, Quoted(word) + what).AddHelp("choose another name, as 'T'");
    if (pending_.kind == ir::FunctionKind::Kernel) {
      stream_.Error(diag::E0140, open, "a kernel cannot be generic: nobody calls it")
          .AddHelp("write 'type real = f32' and choose the type with -D real=f64");
      good = false;
    }
    good = good && what.empty();
    pending_.signature = stream_.Now().begin;
    pending_.name_span = span;
    bool fresh = !name.Valid() || stream_.Claim(gathered_.symbols, name, span, Shown(name));
    if (good && fresh) shared_.generics->Add(name, word, pending_);
    if (!shared_.generics->IsGeneric(name)) gathered_.unsure.emplace(name, true);
  }

  void MakeFunction(StringId name, diag::SourceSpan span) {
    bool is_free =
        name.Valid() && !pending_.is_probe && stream_.Claim(gathered_.symbols, name, span, Shown(name));
    if (!is_free) {
      gathered_.strays.push_back(std::make_unique<ir::Function>(pending_.kind, name));
      pending_.function = gathered_.strays.back().get();
      return;
    }
    auto position = static_cast<uint32_t>(module().functions.size());
    pending_.function = &module().AddFunction(pending_.kind, name);
    if (!pending_.instance.Valid()) module().items[pending_.item].position = position;
  }

  bool ParseParams() {
    diag::SourceSpan open = stream_.SpanNow();
    if (!stream_.Expect(TokenKind::LeftParen, "'(' and the parameters")) return false;
    if (stream_.Accept(TokenKind::RightParen)) return true;
    do {
      if (!ParseParam()) return false;
    } while (stream_.Accept(TokenKind::Comma));
    return stream_.ExpectClosing(TokenKind::RightParen, "',' or ')'", open);
  }

  bool ParseParam() {
    ir::ParamInfo info;
    info.span = stream_.SpanNow();
    StringId name = stream_.Is(TokenKind::ValueName) ? module().Intern(stream_.Now().text) : StringId();
    if (!stream_.Expect(TokenKind::ValueName, "the name of a parameter ('%x')")) return false;
    if (!stream_.Expect(TokenKind::Colon, "':' and the type of the parameter")) return false;
    diag::SourceSpan type_span = stream_.SpanNow();
    Type type;
    if (!ParseType(stream_, &type)) return false;
    if (type.IsArray()) {
      stream_.Error(diag::E0113, type_span, "an array is local to a thread and cannot be a parameter")
          .AddHelp("pass a buffer");
      return false;
    }
    while (stream_.Is(TokenKind::Word)) {
      auto known = std::ranges::find_if(ir::kParamWords,
                                        [&](const ir::ParamWord& word) { return stream_.IsWord(word.text); });
      if (known != ir::kParamWords.end()) {
        info.*known->flag = true;
      } else if (stream_.IsWord("scratch")) {
        info.role = ir::ParamRole::Scratch;
      } else if (stream_.IsWord("segment")) {
        info.role = ir::ParamRole::Segment;
      } else if (stream_.IsWord("trips")) {
        info.role = ir::ParamRole::Trips;
      } else if (stream_.IsWord("saved")) {
        info.role = ir::ParamRole::Saved;
      } else {
        std::vector<std::string_view> words;
        for (const ir::ParamWord& word : ir::kParamWords) words.push_back(word.text);
        std::string_view nearest = NearestName(stream_.Now().text, words);
        stream_.Error(diag::E0121, stream_.SpanNow(), "no attribute is named " + Describe(stream_.Now()))
            .AddHelp(nearest.empty() ? "attributes are diff, readonly, alias, writeonce, settled, disjoint, "
                                       "checked, save and if_read"
                                     : "did you mean '" + std::string(nearest) + "'?");
      }
      stream_.Advance();
    }
    if (!stream_.Claim(param_names_, name, info.span, "'%" + std::string(module().Text(name)) + "'"))
      pending_.function->broken = true;
    pending_.function->AddParameter(type, name, info);
    pending_.param_spans.push_back(info.span);
    return true;
  }

  bool ParseResults() {
    diag::SourceSpan arrow = stream_.SpanNow();
    if (!stream_.Accept(TokenKind::Arrow)) return true;
    if (pending_.kind == ir::FunctionKind::Kernel) {
      stream_.Error(diag::E0121, arrow, "a kernel has no results").AddHelp("it writes to buffers");
      return false;
    }
    do {
      diag::SourceSpan span = stream_.SpanNow();
      Type type;
      if (!ParseType(stream_, &type)) return false;
      if (!type.IsRegister()) {
        stream_.Error(diag::E0113, span,
                      "a function gives scalars, vectors and matrices, not " + TypeName(module(), type));
        return false;
      }
      pending_.function->result_types.push_back(type);
    } while (stream_.Accept(TokenKind::Comma));
    return true;
  }

  bool ParseDerivatives() {
    ir::Function& function = *pending_.function;
    while (stream_.Is(TokenKind::Word)) {
      StringId* slot = stream_.IsWord("vjp")    ? &function.vjp
                       : stream_.IsWord("jvp")  ? &function.jvp
                       : stream_.IsWord("grad") ? &function.grad
                                                : nullptr;
      bool fits = slot != nullptr && (slot == &function.grad) == function.IsKernel();
      if (!fits) return stream_.Unexpected(function.IsKernel() ? "'grad' or '{'" : "'vjp', 'jvp' or '{'");
      stream_.Advance();
      if (slot->Valid()) stream_.Error(diag::E0101, stream_.SpanNow(), "this derivative is named twice");
      *slot = stream_.Is(TokenKind::Symbol) ? module().Intern(stream_.Now().text) : StringId();
      if (!stream_.Expect(TokenKind::Symbol, "the name of the derivative ('@f_vjp')")) return false;
    }
    return true;
  }

  Shared& shared_;
  PendingFunction& pending_;
  Gathered& gathered_;
  TokenStream stream_;
  std::unordered_map<StringId, diag::SourceSpan> param_names_;
};

}  // namespace

void FindItems(Shared& shared, const diag::SourceFile& file, bool imported, Gathered& gathered) {
  ItemParser(shared, file, imported, gathered).Parse();
}

void ParseSignature(Shared& shared, PendingFunction& pending, Gathered& gathered) {
  SignatureParser(shared, pending, gathered).Parse();
}

}  // namespace adc::parse

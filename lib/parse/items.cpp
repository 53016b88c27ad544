#include "parse/items.h"

#include "diag/errors/parse.h"
#include "ir/layout.h"
#include "parse/literal.h"
#include "support/nearest.h"

namespace adc::parse {

using ir::Type;
using ItemKind = ir::Module::ItemKind;

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

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
      comments_ = stream_.TakeComments();
      if (stream_.Is(TokenKind::End)) break;
      bool good = true;
      if (stream_.AcceptWord("import")) {
        good = ParseImport();
      } else if (stream_.AcceptWord("const")) {
        good = ParseConstant();
      } else if (stream_.AcceptWord("layout")) {
        good = ParseLayout();
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

  void ReportStranger() {
    if (stream_.Is(TokenKind::RightBrace)) {
      stream_.Error(diag::E0118, stream_.SpanNow(), "this '}' closes nothing");
      return;
    }
    std::string help;
    if (stream_.Is(TokenKind::Word)) {
      constexpr std::string_view kWords[] = {"kernel", "func", "layout", "const", "import"};
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
    if (word != "kernel" && word != "func" && word != "layout" && word != "const") return false;
    return stream_.PeekKind() == TokenKind::Symbol;
  }

  /// Passes over what cannot be read, blocks as wholes, up to the next item.
  void SkipToItem() {
    stream_.lexer().SetQuiet(true);
    while (!stream_.Is(TokenKind::End) && !AtItem()) {
      if (stream_.Is(TokenKind::LeftBrace)) {
        bool closed = false;
        stream_.Resume(stream_.lexer().SkipBlock(stream_.Now().end, &closed));
      } else {
        stream_.Advance();
      }
    }
    stream_.lexer().SetQuiet(false);
  }

  /// False, with a message, where the symbol is taken.
  bool Claim(StringId name, diag::SourceSpan span) {
    auto [place, fresh] = gathered_.symbols.try_emplace(name, span);
    if (fresh) return true;
    stream_.Error(diag::E0110, span, "'@" + std::string(module().Text(name)) + "' is defined twice")
        .AddNote(place->second, "it is defined here");
    return false;
  }
  void AddItem(ItemKind kind, size_t position) {
    module().items.push_back({kind, static_cast<uint32_t>(position), imported_});
  }

  bool ParseImport() {
    diag::SourceSpan span = stream_.SpanNow();
    if (!stream_.Is(TokenKind::String)) {
      stream_.Unexpected("the path of a file in quotes");
      return false;
    }
    std::string path = Unescape(stream_.Now().text);
    stream_.Advance();
    AddItem(ItemKind::Import, module().imports.size());
    module().imports.push_back({module().Intern(path), span, std::move(comments_)});
    gathered_.imports.push_back({std::move(path), span, &file_});
    return true;
  }

  bool ParseConstant() {
    ir::ModuleConstant constant;
    constant.leading_comments = std::move(comments_);
    constant.span = stream_.SpanNow();
    constant.name = stream_.Is(TokenKind::Symbol) ? module().Intern(stream_.Now().text) : StringId();
    if (!stream_.Expect(TokenKind::Symbol, "the name of the constant ('@eps')")) return false;
    if (!stream_.Expect(TokenKind::Equals, "'='")) return false;
    std::vector<std::pair<std::string_view, diag::SourceSpan>> texts;
    diag::SourceSpan open = stream_.SpanNow();
    bool array = stream_.Accept(TokenKind::LeftBracket);
    do {
      bool word =
          stream_.IsWord("true") || stream_.IsWord("false") || stream_.IsWord("inf") || stream_.IsWord("nan");
      if (!word && !stream_.Is(TokenKind::Number)) {
        stream_.Unexpected("a number");
        return false;
      }
      texts.emplace_back(stream_.Now().text, stream_.SpanNow());
      stream_.Advance();
    } while (array && stream_.Accept(TokenKind::Comma));
    if (array && !stream_.ExpectClosing(TokenKind::RightBracket, "']'", open)) return false;
    diag::SourceSpan type_span = stream_.SpanNow();
    if (!stream_.Is(TokenKind::Colon)) {
      stream_.Unexpected("':' and the type of the constant", "write 'const @eps = 1e-6 : f32'");
      return false;
    }
    stream_.Advance();
    if (!ParseType(stream_, &constant.type)) return false;
    bool fits = array ? constant.type.IsArray() && constant.type.rows == 0 : constant.type.IsScalar();
    if (!fits) {
      stream_.Error(diag::E0126, type_span,
                    std::string(array ? "a list makes an array of scalars" : "one number makes a scalar") +
                        ", not " + TypeName(module(), constant.type));
    } else if (array && constant.type.count != texts.size()) {
      stream_.Error(diag::E0126, open,
                    "the list has " + std::to_string(texts.size()) + " elements, its type says " +
                        std::to_string(constant.type.count));
      fits = false;
    }
    for (const auto& [text, span] : texts) {
      if (!fits) break;
      LiteralBits literal = ReadLiteral(text, constant.type.scalar);
      if (!literal.good) stream_.Error(diag::E0108, span, literal.reason).AddHelp(literal.help);
      constant.elements.push_back(literal.bits);
      constant.spellings.push_back(module().Intern(text));
    }
    if (!fits) {
      // The name stays known, so that its uses are not mistakes as well.
      constant.type = array ? Type::Array(ir::kF32, 1) : ir::kF32;
      constant.elements.assign(1, 0);
      constant.spellings.clear();
    }
    if (!Claim(constant.name, constant.span)) return true;
    AddItem(ItemKind::Constant, module().constants.size());
    module().AddConstant(std::move(constant));
    return true;
  }

  bool ParseLayout() {
    ir::Layout layout;
    layout.leading_comments = std::move(comments_);
    layout.span = stream_.SpanNow();
    layout.name = stream_.Is(TokenKind::Symbol) ? module().Intern(stream_.Now().text) : StringId();
    if (!stream_.Expect(TokenKind::Symbol, "the name of the layout ('@grid')")) return false;
    field_names_.clear();
    bool good = ParseMembers(layout, layout.roots, 0);
    if (good) {
      ir::LayoutProblem problem = ComputeLayout(layout);
      if (!problem.text.empty()) {
        stream_.Error(diag::E0122, problem.span.Valid() ? problem.span : layout.span, problem.text);
      } else if (layout.fields.empty()) {
        stream_.Error(diag::E0122, layout.span, "the layout has no fields");
      }
    }
    if (Claim(layout.name, layout.span)) {
      AddItem(ItemKind::Layout, module().layouts.size());
      module().AddLayout(std::move(layout));
    }
    return good;
  }

  bool ParseMembers(ir::Layout& layout, std::vector<ir::LayoutNode>& members, uint32_t depth) {
    diag::SourceSpan open = stream_.SpanNow();
    if (depth >= ir::kMaxNesting) {
      stream_.Error(diag::E0119, open, "nested deeper than " + std::to_string(ir::kMaxNesting));
      return false;
    }
    if (!stream_.Expect(TokenKind::LeftBrace, "'{'")) return false;
    while (stream_.Is(TokenKind::Word)) {
      for (StringId comment : stream_.TakeComments()) layout.leading_comments.push_back(comment);
      bool dense = stream_.IsWord("dense") && stream_.PeekKind() != TokenKind::Colon;
      if (!(dense ? ParseDense(layout, members, depth) : ParseField(layout, members))) return false;
    }
    for (StringId comment : stream_.TakeComments()) layout.leading_comments.push_back(comment);
    return stream_.ExpectClosing(TokenKind::RightBrace, "a field, 'dense' or '}'", open);
  }

  bool ParseDense(ir::Layout& layout, std::vector<ir::LayoutNode>& members, uint32_t depth) {
    stream_.Advance();
    ir::LayoutNode node;
    diag::SourceSpan open = stream_.SpanNow();
    if (!stream_.Expect(TokenKind::LeftBracket, "'[' and the extents")) return false;
    do {
      uint64_t extent = 0;
      if (!stream_.Is(TokenKind::Number)) {
        stream_.Unexpected("an extent");
        return false;
      }
      if (!ReadCount(stream_.Now().text, INT32_MAX, &extent) || extent == 0) {
        stream_.Error(diag::E0122, stream_.SpanNow(),
                      "an extent is from 1 to 2147483647, not " + Quoted(stream_.Now().text));
        extent = 1;
      }
      stream_.Advance();
      node.extents.push_back(extent);
    } while (stream_.Accept(TokenKind::Comma));
    if (!stream_.ExpectClosing(TokenKind::RightBracket, "']'", open)) return false;
    if (node.extents.size() > ir::kMaxRank) {
      stream_.Error(diag::E0122, open, "'dense' has at most 8 axes");
      return false;
    }
    if (!ParseMembers(layout, node.members, depth + 1)) return false;
    members.push_back(std::move(node));
    return true;
  }

  bool ParseField(ir::Layout& layout, std::vector<ir::LayoutNode>& members) {
    ir::LayoutField field;
    field.span = stream_.SpanNow();
    field.name = module().Intern(stream_.Now().text);
    stream_.Advance();
    if (!stream_.Expect(TokenKind::Colon, "':' and the type of the field")) return false;
    diag::SourceSpan type_span = stream_.SpanNow();
    if (!ParseType(stream_, &field.type)) return false;
    if (!field.type.IsRegister()) {
      stream_.Error(diag::E0122, type_span,
                    "a field is a scalar, vector or matrix, not " + TypeName(module(), field.type));
      field.type = ir::kF32;
    }
    if (stream_.IsWord("diff") && stream_.PeekKind() != TokenKind::Colon) {
      if (!field.type.IsFloat())
        stream_.Error(diag::E0121, stream_.SpanNow(),
                      "'diff' stands on floats, this field is " + TypeName(field.type));
      field.diff = true;
      stream_.Advance();
    }
    auto [place, fresh] = field_names_.try_emplace(field.name, field.span);
    if (!fresh) {
      stream_
          .Error(diag::E0110, field.span, "field " + Quoted(module().Text(field.name)) + " is defined twice")
          .AddNote(place->second, "it is defined here");
      return true;
    }
    ir::LayoutNode node;
    node.is_field = true;
    node.field = static_cast<uint32_t>(layout.fields.size());
    layout.fields.push_back(std::move(field));
    members.push_back(std::move(node));
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
      stream_.lexer().Seek(pending.end);
      stream_.Advance();
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
  std::unordered_map<StringId, diag::SourceSpan> field_names_;
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
    StringId name = stream_.Is(TokenKind::Symbol) ? shared_.module.Intern(stream_.Now().text) : StringId();
    bool good = pending_.bad_signature ? name.Valid() : stream_.Expect(TokenKind::Symbol, "a name ('@f')");
    if (pending_.bad_signature && good) stream_.Advance();
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

  void MakeFunction(StringId name, diag::SourceSpan span) {
    bool free = name.Valid();
    if (free) {
      auto [place, fresh] = gathered_.symbols.try_emplace(name, span);
      free = fresh;
      if (!fresh) {
        stream_.Error(diag::E0110, span, "'@" + std::string(module().Text(name)) + "' is defined twice")
            .AddNote(place->second, "it is defined here");
      }
    }
    if (!free) {
      gathered_.strays.push_back(std::make_unique<ir::Function>(pending_.kind, name));
      pending_.function = gathered_.strays.back().get();
      return;
    }
    auto position = static_cast<uint32_t>(module().functions.size());
    pending_.function = &module().AddFunction(pending_.kind, name);
    module().items[pending_.item].position = position;
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
      bool* flag = stream_.IsWord("diff")        ? &info.diff
                   : stream_.IsWord("readonly")  ? &info.readonly
                   : stream_.IsWord("alias")     ? &info.alias
                   : stream_.IsWord("writeonce") ? &info.writeonce
                   : stream_.IsWord("settled")   ? &info.settled
                   : stream_.IsWord("save")      ? &info.save
                                                 : nullptr;
      if (flag != nullptr) {
        *flag = true;
      } else if (stream_.IsWord("scratch")) {
        info.role = ir::ParamRole::Scratch;
      } else if (stream_.IsWord("segment")) {
        info.role = ir::ParamRole::Segment;
      } else if (stream_.IsWord("trips")) {
        info.role = ir::ParamRole::Trips;
      } else if (stream_.IsWord("saved")) {
        info.role = ir::ParamRole::Saved;
      } else {
        constexpr std::string_view kWords[] = {"diff", "readonly", "alias", "writeonce", "settled", "save"};
        std::string_view nearest = NearestName(stream_.Now().text, kWords);
        stream_.Error(diag::E0121, stream_.SpanNow(), "no attribute is named " + Describe(stream_.Now()))
            .AddHelp(nearest.empty() ? "attributes are diff, readonly, alias, writeonce, settled and save"
                                     : "did you mean '" + std::string(nearest) + "'?");
      }
      stream_.Advance();
    }
    auto [place, fresh] = param_names_.try_emplace(name, info.span);
    if (!fresh) {
      stream_.Error(diag::E0110, info.span, "'%" + std::string(module().Text(name)) + "' is defined twice")
          .AddNote(place->second, "it is defined here");
      pending_.function->broken = true;
    }
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
      if (!fits) {
        stream_.Unexpected(function.IsKernel() ? "'grad' or '{'" : "'vjp', 'jvp' or '{'");
        return false;
      }
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

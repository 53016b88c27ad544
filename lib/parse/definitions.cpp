#include "parse/definitions.h"

#include "diag/errors/parse.h"
#include "ir/layout.h"
#include "ir/module.h"
#include "parse/literal.h"
#include "support/nearest.h"

namespace adc::parse {

using ir::Type;

namespace {

/// The braces of a layout and what stands in them.
class LayoutReader {
 public:
  explicit LayoutReader(TokenStream& stream) : stream_(stream) {}

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
      diag::SourceSpan place = stream_.SpanNow();
      Count extent;
      if (!ParseCount(stream_, "an extent", &extent)) return false;
      if (extent.good && (extent.value == 0 || extent.value > INT32_MAX)) {
        stream_.Error(diag::E0122, {place.begin, stream_.SpanPrevious().end},
                      "an extent is from 1 to 2147483647, not " + extent.text);
        extent.good = false;
      }
      node.extents.push_back(extent.good ? extent.value : 1);
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
    std::string shown = "field " + Quoted(module().Text(field.name));
    if (!stream_.Claim(field_names_, field.name, field.span, shown)) return true;
    ir::LayoutNode node;
    node.is_field = true;
    node.field = static_cast<uint32_t>(layout.fields.size());
    layout.fields.push_back(std::move(field));
    members.push_back(std::move(node));
    return true;
  }

 private:
  ir::Module& module() { return stream_.module(); }

  TokenStream& stream_;
  std::unordered_map<StringId, diag::SourceSpan> field_names_;
};

}  // namespace

void Definitions::Add(Definition definition) {
  entries_.push_back({.definition = std::move(definition)});
  Entry& entry = entries_.back();
  if (entry.definition.kind == Kind::Type) {
    types_.emplace(entry.definition.name, &entry);
    type_order_.push_back(entry.definition.name);
  } else if (entry.definition.item != SIZE_MAX) {
    symbols_.emplace(entry.definition.name, &entry);
  }
}

void Definitions::ResolveAll(std::span<const Define> defines, bool unused) {
  TakeDefines(defines, unused);
  for (Entry& entry : entries_) {
    if (shared_.diagnostics.Full()) return;
    if (entry.state == State::Waiting) Read(entry, {});
  }
}

void Definitions::Resolve(StringId name, diag::SourceSpan use) {
  auto found = symbols_.find(name);
  if (found != symbols_.end() && found->second->state != State::Done) Read(*found->second, use);
}

std::optional<Type> Definitions::FindType(std::string_view word, diag::SourceSpan use) {
  auto found = types_.find(shared_.module.Intern(word));
  if (found == types_.end()) return std::nullopt;
  if (found->second->state != State::Done) Read(*found->second, use);
  return found->second->type;
}

bool Definitions::NamesType(std::string_view word) const {
  return !types_.empty() && types_.contains(shared_.module.Intern(word));
}

std::vector<std::string_view> Definitions::TypeNames() const {
  std::vector<std::string_view> names;
  for (StringId name : type_order_) names.push_back(shared_.module.Text(name));
  return names;
}

/// Each `-D` is a source file of one line, so that messages can show it and a bundle lists it.
void Definitions::TakeDefines(std::span<const Define> defines, bool unused) {
  for (size_t n = 0; n < defines.size(); ++n) {
    const Define& define = defines[n];
    bool again = false;
    for (size_t later = n + 1; later < defines.size(); ++later)
      again = again || defines[later].name == define.name;
    if (again) continue;
    StringId name = shared_.module.Intern(define.name);
    auto type = types_.find(name);
    auto symbol = symbols_.find(name);
    Entry* entry = type != types_.end() ? type->second : symbol != symbols_.end() ? symbol->second : nullptr;
    std::string option = "-D " + define.name + "=" + define.value;
    if (entry == nullptr || entry->definition.kind == Kind::Layout) {
      if (unused || shared_.incomplete) continue;  // an import that could not be read may have it
      std::vector<std::string_view> candidates = TypeNames();
      for (const Entry& each : entries_) {
        if (each.definition.kind == Kind::Constant && each.definition.name.Valid())
          candidates.push_back(shared_.module.Text(each.definition.name));
      }
      std::string_view nearest = NearestName(define.name, candidates);
      shared_.diagnostics
          .Error(diag::E0139, {}, Quoted(option) + " sets no 'const' and no 'type' of the sources")
          .AddHelp(nearest.empty()
                       ? "it sets what the text defines, as 'const @n = 16 : i32' or 'type real = f32'"
                       : "did you mean '" + std::string(nearest) + "'?");
      continue;
    }
    uint32_t base = sources_.AddFile(option, define.value);
    if (base != 0) entry->value = sources_.FileOf({base, base + 1});
  }
}

void Definitions::Read(Entry& entry, diag::SourceSpan use) {
  const Definition& definition = entry.definition;
  std::string text = std::string(definition.kind == Kind::Type ? "" : "@") +
                     std::string(shared_.module.Text(definition.name));
  bool too_deep = depth_ >= ir::kMaxNesting;
  if (entry.state == State::Active || too_deep) {
    shared_.diagnostics
        .Error(too_deep ? diag::E0119 : diag::E0138, use,
               too_deep ? "definitions need each other deeper than " + std::to_string(ir::kMaxNesting)
                        : Quoted(text) + " depends on itself")
        .AddNote(definition.span, "it is defined here");
    shared_.broken.insert(definition.name);
    entry.state = State::Done;
    return;
  }
  entry.state = State::Active;
  ++depth_;
  TokenStream stream(shared_, *definition.file, definition.begin,
                     static_cast<uint32_t>(definition.file->text.size()));
  uint32_t errors = shared_.diagnostics.ErrorTotal();
  switch (definition.kind) {
    case Kind::Constant:
      ReadConstant(entry, stream);
      break;
    case Kind::Layout:
      ReadLayout(entry, stream);
      break;
    case Kind::Type:
      ReadType(entry, stream);
      break;
  }
  if (shared_.diagnostics.ErrorTotal() == errors && stream.Now().begin < definition.end)
    stream.Unexpected("'kernel', 'func', 'layout', 'const', 'type' or 'import'");
  --depth_;
  entry.state = State::Done;
}

void Definitions::ReadConstant(Entry& entry, TokenStream& stream) {
  const Definition& definition = entry.definition;
  ir::ModuleConstant constant;
  constant.leading_comments = definition.comments;
  constant.span = definition.span;
  constant.name = definition.name;
  bool good = ReadValue(entry, stream, &constant) && entry.state == State::Active;
  if (definition.item == SIZE_MAX) return;  // the name is taken
  if (!good) {
    shared_.broken.insert(definition.name);
    return;
  }
  shared_.module.items[definition.item].position = static_cast<uint32_t>(shared_.module.constants.size());
  shared_.module.AddConstant(std::move(constant));
}

/// Reads the rest of a definition after its name.
bool Definitions::ReadValue(Entry& entry, TokenStream& stream, ir::ModuleConstant* constant) {
  if (!stream.Expect(TokenKind::Equals, "'='")) return false;
  // Long lists are made of literals, which need no more than their text.
  struct Element {
    std::string_view text = {};
    diag::SourceSpan span = {};
    std::unique_ptr<ConstantExpression> expression = nullptr;
  };
  std::vector<Element> elements;
  diag::SourceSpan open = stream.SpanNow();
  bool array = stream.Accept(TokenKind::LeftBracket);
  do {
    Element& element = elements.emplace_back();
    element.span = stream.SpanNow();
    bool word = stream.Is(TokenKind::Word) && IsLiteralWord(stream.Now().text);
    TokenKind next = stream.PeekKind();
    bool literal = (word || stream.Is(TokenKind::Number)) &&
                   (next == TokenKind::Comma || next == TokenKind::Colon || next == TokenKind::RightBracket ||
                    next == TokenKind::Word || next == TokenKind::End);
    if (literal) {
      element.text = stream.Now().text;
      stream.Advance();
      continue;
    }
    element.expression = std::make_unique<ConstantExpression>(shared_);
    if (!element.expression->Parse(stream, /*in_type=*/false)) return false;
    element.span.end = stream.SpanPrevious().end;
  } while (array && stream.Accept(TokenKind::Comma));
  if (array && !stream.ExpectClosing(TokenKind::RightBracket, "']'", open)) return false;
  diag::SourceSpan type_span = stream.SpanNow();
  if (!stream.Is(TokenKind::Colon))
    return stream.Unexpected("':' and the type of the constant", "write 'const @eps = 1e-6 : f32'");
  stream.Advance();
  if (!ParseType(stream, &constant->type)) return false;
  Type type = constant->type;
  bool fits = array ? type.IsArray() && type.rows == 0 : type.IsScalar();
  if (!fits) {
    stream.Error(diag::E0126, type_span,
                 std::string(array ? "a list makes an array of scalars" : "one number makes a scalar") +
                     ", not " + TypeName(shared_.module, type));
    return false;
  }
  if (array && type.count != elements.size()) {
    stream.Error(diag::E0126, open,
                 "the list has " + std::to_string(elements.size()) + " elements, its type says " +
                     std::to_string(type.count));
    return false;
  }
  if (entry.value != nullptr) return ReadReplacement(entry, constant);
  for (const Element& element : elements) {
    uint64_t bits = 0;
    if (element.expression != nullptr) {
      Type found;
      if (!element.expression->Finish(Type::Of(type.scalar), &found, &bits)) return false;
      constant->elements.push_back(bits);
      constant->spellings.push_back({});
      continue;
    }
    LiteralBits literal = ReadLiteral(element.text, type.scalar);
    if (!literal.good) stream.Error(diag::E0108, element.span, literal.reason).AddHelp(literal.help);
    constant->elements.push_back(literal.bits);
    constant->spellings.push_back(shared_.module.Intern(element.text));
  }
  return true;
}

/// The value that `-D` gives, in the place of that of the text.
bool Definitions::ReadReplacement(const Entry& entry, ir::ModuleConstant* constant) {
  TokenStream stream(shared_, *entry.value, 0, static_cast<uint32_t>(entry.value->text.size()));
  if (!constant->type.IsScalar()) {
    stream
        .Error(diag::E0139, {entry.value->base, entry.value->base + 1},
               "-D sets a constant of one number, this is " + TypeName(shared_.module, constant->type))
        .AddNote(entry.definition.span, "it is defined here");
    return false;
  }
  ConstantExpression expression(shared_);
  Type found;
  uint64_t bits = 0;
  if (!expression.Parse(stream, /*in_type=*/false)) return false;
  if (!stream.Is(TokenKind::End)) return stream.Unexpected("the end of the value");
  if (!expression.Finish(constant->type, &found, &bits)) return false;
  constant->elements = {bits};
  constant->spellings = {{}};
  return true;
}

void Definitions::ReadLayout(Entry& entry, TokenStream& stream) {
  const Definition& definition = entry.definition;
  ir::Layout layout;
  layout.leading_comments = definition.comments;
  layout.span = definition.span;
  layout.name = definition.name;
  bool good = LayoutReader(stream).ParseMembers(layout, layout.roots, 0);
  if (!good) shared_.broken.insert(layout.name);
  if (good) {
    ir::LayoutProblem problem = ComputeLayout(layout);
    if (!problem.text.empty()) {
      stream.Error(diag::E0122, problem.span.Valid() ? problem.span : layout.span, problem.text);
    } else if (layout.fields.empty()) {
      stream.Error(diag::E0122, layout.span, "the layout has no fields");
    }
  }
  if (definition.item == SIZE_MAX) return;
  shared_.module.items[definition.item].position = static_cast<uint32_t>(shared_.module.layouts.size());
  shared_.module.AddLayout(std::move(layout));
}

void Definitions::ReadType(Entry& entry, TokenStream& stream) {
  Type type;
  if (!stream.Expect(TokenKind::Equals, "'='") || !ParseType(stream, &type)) return;
  if (entry.value != nullptr) {
    TokenStream replacement(shared_, *entry.value, 0, static_cast<uint32_t>(entry.value->text.size()));
    if (!ParseType(replacement, &type)) return;
    if (!replacement.Is(TokenKind::End)) {
      replacement.Unexpected("the end of the type");
      return;
    }
  }
  if (entry.state == State::Active) entry.type = type;
}

}  // namespace adc::parse

// The texts that an editor writes into a document: names that are completed, and names that change
// everywhere.

#include <algorithm>
#include <map>
#include <set>

#include "ir/op.h"
#include "ir/param_words.h"
#include "lsp_document.h"
#include "lsp_tokens.h"
#include "parse/keywords.h"
#include "parse/parser.h"
#include "support/letters.h"

namespace adc::tool {

namespace {

using parse::Token, parse::TokenKind;

/// Whether users write the operation; others are made by passes (docs/ir.md, section 8).
bool IsWritten(const ir::OpInfo& info) {
  constexpr ir::OpForm kOfPasses[] = {ir::OpForm::StackNewForm, ir::OpForm::StackForm, ir::OpForm::RowForm,
                                      ir::OpForm::RowAccess, ir::OpForm::StatusForm};
  return std::ranges::find(kOfPasses, info.form) == std::end(kOfPasses);
}

void AddWords(std::span<const std::string_view> words, std::vector<CompletionItem>* items) {
  for (std::string_view word : words)
    items->push_back({std::string(word), CompletionItem::Kind::Keyword, {}, {}});
}

std::vector<CompletionItem> WordCompletions(std::vector<CompletionItem> items) {
  for (uint32_t n = 0; n < ir::kOpCount; ++n) {
    const ir::OpInfo& info = ir::InfoOf(static_cast<ir::Op>(n));
    if (IsWritten(info))
      items.push_back(
          {std::string(info.spelling), CompletionItem::Kind::Operation, {}, std::string(info.doc)});
  }
  AddWords(parse::kItemWords, &items);
  AddWords(parse::kSignatureWords, &items);
  AddWords(parse::kStatementWords, &items);
  AddWords(parse::kLiteralWords, &items);
  for (const ir::ParamWord& word : ir::kParamWords)
    items.push_back({std::string(word.text), CompletionItem::Kind::Keyword, {}, {}});
  for (std::string_view word : parse::kTypeWords)
    items.push_back({std::string(word), CompletionItem::Kind::Type, {}, {}});
  for (auto n = static_cast<uint8_t>(ir::Scalar::I1); n <= static_cast<uint8_t>(ir::Scalar::F64); ++n)
    items.push_back(
        {std::string(ir::Spelling(static_cast<ir::Scalar>(n))), CompletionItem::Kind::Type, {}, {}});
  return items;
}

/// Whether `name` is one token of that kind, from its first to its last byte.
bool IsName(const std::string& name, TokenKind kind) {
  diag::SourceFile file{"", name, 1};
  std::vector<Token> tokens = TokensOf(file);
  return tokens.size() == 1 && tokens[0].kind == kind && tokens[0].begin == 0 && tokens[0].end == name.size();
}

/// Which definition each name of the first file means, both by their position among the names of that file.
/// Equal for two texts whose names mean the same.
std::vector<std::pair<size_t, size_t>> Meanings(const parse::Places& places, uint32_t end) {
  std::set<uint32_t> order;
  for (const parse::ValuePlace& place : places.values) {
    if (place.span.begin < end) order.insert(place.span.begin);
  }
  std::map<uint32_t, size_t> rank;
  for (uint32_t begin : order) rank.emplace(begin, rank.size());
  std::set<std::pair<size_t, size_t>> meanings;
  for (const parse::ValuePlace& place : places.values) {
    if (place.span.begin < end) meanings.emplace(rank.at(place.span.begin), rank.at(place.definition.begin));
  }
  return {meanings.begin(), meanings.end()};
}

}  // namespace

std::vector<CompletionItem> Document::Completions(Position position) {
  size_t offset = LineTable(text_).OffsetOf(position);
  size_t begin = offset;
  while (begin > 0 && (IsNameCharacter(text_[begin - 1]) || text_[begin - 1] == '.')) --begin;
  char before = begin > 0 ? text_[begin - 1] : ' ';
  std::vector<CompletionItem> items;
  if (before == '%') return ValueCompletions(offset);
  if (before == '@') {
    for (const auto& [name, place] : places_.symbols)
      items.push_back(
          {std::string(product_.module->Text(name)), CompletionItem::Kind::Symbol, Signature(place), {}});
  } else {
    for (const auto& [name, place] : places_.types)
      items.push_back(
          {std::string(product_.module->Text(name)), CompletionItem::Kind::Type, Signature(place), {}});
    items = WordCompletions(std::move(items));
  }
  std::ranges::sort(items, {}, &CompletionItem::label);
  return items;
}

/// The values that are visible. A value is not visible in its own statement, but a loop's are after its '{'.
std::vector<CompletionItem> Document::ValueCompletions(size_t offset) const {
  const diag::SourceFile* file = OwnFile();
  std::map<std::string, std::string> found;
  for (const parse::ValuePlace& place : places_.values) {
    if (file == nullptr || !place.IsDefinition() || place.span.end > file->base + offset ||
        place.scope_end < file->base + offset)
      continue;
    size_t end = place.span.end - file->base;
    std::string_view between = std::string_view(text_).substr(end, offset - end);
    if (between.find('\n') == std::string_view::npos && between.find('{') == std::string_view::npos) continue;
    found[NameOf(place).substr(1)] = place.type.IsNone() ? "" : ir::TypeName(*product_.module, place.type);
  }
  std::vector<CompletionItem> items;
  for (const auto& [name, type] : found) items.push_back({name, CompletionItem::Kind::Value, type, {}});
  return items;
}

std::vector<std::pair<size_t, size_t>> Document::PlacesOfName(size_t offset, std::string* failure) {
  const diag::SourceFile* file = OwnFile();
  std::set<std::pair<size_t, size_t>> found;
  if (file == nullptr) return {};
  if (const parse::ValuePlace* value = ValueAt(offset)) {
    for (const parse::ValuePlace& place : places_.values) {
      if (place.definition == value->definition)
        found.emplace(place.span.begin - file->base, place.span.end - file->base);
    }
    return {found.begin(), found.end()};
  }
  std::vector<Token> tokens = TokensOf(*file);
  size_t at = TokenAt(tokens, offset);
  bool symbol = at < tokens.size() && tokens[at].kind == TokenKind::Symbol;
  diag::SourceSpan place = symbol ? SymbolOf(tokens[at]) : diag::SourceSpan{};
  if (!place.Valid()) return {};
  if (product_.sources.FileOf(place) != file) {
    *failure = "it is defined in another file, " + product_.sources.Describe(place);
    return {};
  }
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::Symbol && token.text == tokens[at].text)
      found.emplace(token.begin, token.end);
  }
  return {found.begin(), found.end()};
}

std::vector<Range> Document::UsesOf(Position position) {
  std::string failure;
  LineTable lines(text_);
  std::vector<Range> uses;
  for (auto [begin, end] : PlacesOfName(lines.OffsetOf(position), &failure))
    uses.push_back(lines.RangeOf(begin, end));
  return uses;
}

std::vector<TextEdit> Document::Rename(Position position, const std::string& name, std::string* failure) {
  LineTable lines(text_);
  auto error = std::ranges::find_if(messages_, [](const DocumentMessage& message) {
    return message.severity == diag::Severity::Error && message.id.starts_with("E01");
  });
  if (error != messages_.end()) {
    *failure = "the text has errors, behind which names may be hidden: " + error->text;
    return {};
  }
  std::vector<std::pair<size_t, size_t>> places = PlacesOfName(lines.OffsetOf(position), failure);
  if (!failure->empty()) return {};
  if (places.empty()) {
    *failure = "no value, function, constant or layout stands here";
    return {};
  }
  const char sigil = text_[places.front().first];
  std::string whole = name.starts_with(sigil) ? name : sigil + name;
  if (!IsName(whole, sigil == '%' ? TokenKind::ValueName : TokenKind::Symbol)) {
    *failure = "a name is letters, digits, '_' and '.', and begins with no digit";
    return {};
  }
  std::string renamed;
  size_t done = 0;
  std::vector<TextEdit> edits;
  for (auto [begin, end] : places) {
    renamed += text_.substr(done, begin - done) + whole;
    done = end;
    edits.push_back({lines.RangeOf(begin, end), whole});
  }
  renamed += text_.substr(done);
  if (MeansTheSame(renamed, whole, failure) && CompilesAlike(renamed, whole, failure)) return edits;
  return {};
}

/// Names that a derivative or a phase gives are taken too.
bool Document::CompilesAlike(const std::string& text, const std::string& name, std::string* failure) const {
  Document other(path_, options_);
  other.SetText(text);
  other.Analyse([] { return false; });
  auto is_error = [](const DocumentMessage& message) { return message.severity == diag::Severity::Error; };
  if (std::ranges::count_if(other.messages_, is_error) <= std::ranges::count_if(messages_, is_error))
    return true;
  *failure = "'" + name + "' cannot be its name: " + std::ranges::find_if(other.messages_, is_error)->text;
  return false;
}

/// Whether `text`, in which a name was replaced by `name`, is the document in all but this name.
bool Document::MeansTheSame(const std::string& text, const std::string& name, std::string* failure) const {
  parse::Places places;
  parse::ParseConfig config;
  config.include_dirs = options_.include_dirs;
  config.import_dirs = options_.import_dirs;
  config.places = &places;
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  (void)parse::ParseText(path_, text, config, sources, diagnostics);
  const diag::SourceFile* file = sources.Files().empty() ? nullptr : sources.Files().front().get();
  if (file == nullptr || diagnostics.HasErrors()) {
    *failure = "'" + name + "' cannot be its name: " +
               (diagnostics.All().empty() ? "nothing could be read" : diagnostics.All().front().text);
    return false;
  }
  const diag::SourceFile* own = OwnFile();
  auto end = [](const diag::SourceFile& one) { return one.base + static_cast<uint32_t>(one.text.size()); };
  bool same = Meanings(places, end(*file)) == Meanings(places_, end(*own)) &&
              TokensOf(*file).size() == TokensOf(*own).size();
  if (!same) *failure = "'" + name + "' would mean something else where it stands";
  return same;
}

}  // namespace adc::tool

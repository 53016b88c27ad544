#include "lsp_document.h"

#include <algorithm>

#include "ir/op.h"
#include "lsp_tokens.h"
#include "parse/format.h"

namespace adc::tool {

namespace {

using parse::Token, parse::TokenKind;

std::string Code(std::string_view text) {
  return "```adc\n" + std::string(text) + "\n```";
}

}  // namespace

void Document::SetText(std::string text) {
  text_ = std::move(text);
  analysed_ = false;
}

bool Document::Analyse(const std::function<bool()>& cancelled) {
  if (analysed_) return true;
  messages_.clear();
  product_ = {};
  places_ = {};
  // A shader without marks is meant for other tools.
  analysed_ = IsShader() && text_.find("// adc:") == std::string::npos;
  if (analysed_) return true;
  driver::MemoryRequest request;
  request.texts.push_back({path_, text_});
  request.imports_are_files = true;
  request.places = &places_;
  request.report = [this](const diag::Diagnostic& found, const diag::SourceManager& sources) {
    Take(found, sources);
  };
  request.cancelled = cancelled;
  request.stop_after = "plan";
  // A failure has been reported.
  (void)driver::CompileTexts(request, options_, &product_);
  analysed_ = !product_.cancelled;
  return analysed_;
}

FilePlace Document::PlaceOf(const diag::SourceManager& sources, diag::SourceSpan span) const {
  const diag::SourceFile* file = sources.FileOf(span);
  if (file == nullptr) return {path_, {}};
  uint32_t last = std::max(span.end, span.begin);
  return {file->name, LineTable(file->text).RangeOf(span.begin - file->base, last - file->base)};
}

void Document::Take(const diag::Diagnostic& found, const diag::SourceManager& sources) {
  DocumentMessage message{found.severity, std::string(diag::InfoOf(found.id).id), found.text, {}, {}};
  FilePlace place = PlaceOf(sources, found.span);
  if (place.path == path_) {
    message.range = place.range;
  } else {
    message.text = sources.Describe(found.span) + ": " + message.text;
    message.related.push_back({place, found.text});
  }
  for (const diag::Note& note : found.notes) {
    if (note.span.Valid()) {
      message.related.push_back({PlaceOf(sources, note.span), note.text});
    } else {
      message.text += "\nnote: " + note.text;
    }
  }
  if (!found.help.empty()) message.text += "\nhelp: " + found.help;
  messages_.push_back(std::move(message));
}

const diag::SourceFile* Document::OwnFile() const {
  if (product_.module == nullptr || product_.sources.Files().empty()) return nullptr;
  return product_.sources.Files().front().get();
}

const parse::ValuePlace* Document::ValueAt(size_t offset) const {
  const diag::SourceFile* file = OwnFile();
  if (file == nullptr) return nullptr;
  size_t at = file->base + offset;
  for (const parse::ValuePlace& place : places_.values) {
    if (place.span.begin <= at && at <= place.span.end) return &place;
  }
  return nullptr;
}

diag::SourceSpan Document::SymbolOf(const Token& token) {
  if (product_.module == nullptr) return {};
  const auto& known = token.kind == TokenKind::Symbol ? places_.symbols : places_.types;
  if (token.kind != TokenKind::Symbol && token.kind != TokenKind::Word) return {};
  auto found = known.find(product_.module->Intern(token.text));
  return found == known.end() ? diag::SourceSpan{} : found->second;
}

std::string Document::Signature(diag::SourceSpan place) const {
  const diag::SourceFile* file = product_.sources.FileOf(place);
  if (file == nullptr) return {};
  std::vector<Token> tokens = TokensOf(*file);
  size_t name = TokenAt(tokens, place.begin - file->base);
  if (name == 0 || name >= tokens.size()) return {};
  const Token& keyword = tokens[name - 1];
  bool layout = keyword.text == "layout";
  uint32_t depth = 0;
  size_t last = name;
  for (size_t n = name + 1; n < tokens.size(); ++n) {
    bool opens = tokens[n].kind == TokenKind::LeftBrace, closes = tokens[n].kind == TokenKind::RightBrace;
    if (opens && !layout) break;
    if (depth == 0 && tokens[n].first_on_line && keyword.text != "kernel" && keyword.text != "func" &&
        !layout)
      break;
    depth = depth + (opens ? 1 : 0) - (closes && depth > 0 ? 1 : 0);
    last = n;
    if (closes && depth == 0) break;
  }
  return file->text.substr(keyword.begin, tokens[last].end - keyword.begin);
}

std::string Document::NameOf(const parse::ValuePlace& place) const {
  return text_.substr(place.span.begin - OwnFile()->base, place.span.end - place.span.begin);
}

std::string Document::DescribeValue(const parse::ValuePlace& place) const {
  std::string name = NameOf(place);
  // One line for each type that a generic function is read with.
  std::vector<std::string> lines;
  for (const parse::ValuePlace& each : places_.values) {
    if (each.span != place.span || each.type.IsNone()) continue;
    std::string line = name + ": " + ir::TypeName(*product_.module, each.type);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  text = Code(text.empty() ? name : text);
  for (const auto& [gradient, record] : product_.provisions) {
    for (const std::string& line :
         autodiff::DescribeValue(record, name.substr(1), place.definition, product_.sources))
      text += "\n\n`@" + gradient + "`: " + line;
  }
  return text;
}

std::optional<Hover> Document::HoverAt(Position position) {
  const diag::SourceFile* file = OwnFile();
  if (file == nullptr) return std::nullopt;
  LineTable lines(text_);
  size_t offset = lines.OffsetOf(position);
  if (const parse::ValuePlace* value = ValueAt(offset)) {
    return Hover{lines.RangeOf(value->span.begin - file->base, value->span.end - file->base),
                 DescribeValue(*value)};
  }
  std::vector<Token> tokens = TokensOf(*file);
  size_t at = TokenAt(tokens, offset);
  if (at == tokens.size()) return std::nullopt;
  Range range = lines.RangeOf(tokens[at].begin, tokens[at].end);
  if (diag::SourceSpan symbol = SymbolOf(tokens[at]); symbol.Valid())
    return Hover{range, Code(Signature(symbol))};
  if (tokens[at].kind != TokenKind::Word) return std::nullopt;
  bool atomic = at > 0 && tokens[at - 1].text == "atomic";
  std::string spelling = (atomic ? "atomic " : "") + std::string(tokens[at].text);
  std::optional<ir::Op> op = ir::OpFromSpelling(spelling);
  if (!op) return std::nullopt;
  return Hover{range, Code(spelling) + "\n\n" + std::string(ir::InfoOf(*op).doc)};
}

std::optional<Hover> Document::HoverOfLine(Position position) const {
  const diag::SourceFile* file = OwnFile();
  if (file == nullptr) return std::nullopt;
  std::string text;
  for (const auto& [gradient, record] : product_.provisions) {
    std::vector<std::string> names;
    for (const autodiff::ProvisionNote& note : autodiff::NotesOf(record)) {
      bool here = product_.sources.FileOf(note.place) == file &&
                  product_.sources.Locate(note.place).line == position.line + 1;
      if (!here || std::ranges::find(names, note.name) != names.end()) continue;
      names.push_back(note.name);
      for (const std::string& line : autodiff::DescribeValue(record, note.name, note.place, product_.sources))
        text.append(text.empty() ? "" : "\n\n")
            .append("`@" + gradient + "`, " + (note.name.empty() ? "a value" : "`" + note.name + "`") + ": " +
                    line);
    }
  }
  if (text.empty()) return std::nullopt;
  return Hover{{{position.line, 0}, {position.line + 1, 0}}, text};
}

std::optional<FilePlace> Document::DefinitionOf(Position position) {
  const diag::SourceFile* file = OwnFile();
  if (file == nullptr) return std::nullopt;
  size_t offset = LineTable(text_).OffsetOf(position);
  diag::SourceSpan place;
  if (const parse::ValuePlace* value = ValueAt(offset)) {
    place = value->definition;
  } else {
    std::vector<Token> tokens = TokensOf(*file);
    size_t at = TokenAt(tokens, offset);
    if (at < tokens.size()) place = SymbolOf(tokens[at]);
  }
  if (!place.Valid()) return std::nullopt;
  return PlaceOf(product_.sources, place);
}

std::optional<std::string> Document::Formatted(std::string* failure) const {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  uint32_t base = sources.AddFile(path_, text_);
  std::string formatted;
  const diag::SourceFile* file = sources.FileOf({base, base + 1});
  if (file != nullptr && parse::FormatText(*file, diagnostics, &formatted)) return formatted;
  *failure = diagnostics.All().empty() ? "the text is too long" : diagnostics.All().front().text;
  return std::nullopt;
}

}  // namespace adc::tool

#include "lsp_server.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "host/input_kind.h"
#include "product/version.h"
#include "support/uri.h"

namespace adc::tool {

namespace {

using Json = LanguageServer::Json;

// Codes of JSON-RPC and of the protocol.
constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kMethodNotFound = -32601;
constexpr int kInvalidParameters = -32602;
constexpr int kNotInitialised = -32002;
constexpr int kRequestFailed = -32803;

/// The member that names lead to; null where there is none.
const Json* Member(const Json& object, std::initializer_list<const char*> names) {
  const Json* at = &object;
  for (const char* name : names) {
    if (!at->is_object()) return nullptr;
    auto found = at->find(name);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::optional<std::string> TextOf(const Json& object, std::initializer_list<const char*> names) {
  const Json* found = Member(object, names);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<uint32_t> NumberOf(const Json& object, const char* name) {
  const Json* found = Member(object, {name});
  if (found == nullptr || !found->is_number_unsigned()) return std::nullopt;
  return static_cast<uint32_t>(std::min<uint64_t>(found->get<uint64_t>(), UINT32_MAX));
}

std::optional<Position> PositionOf(const Json& parameters) {
  const Json* position = Member(parameters, {"position"});
  if (position == nullptr) return std::nullopt;
  std::optional<uint32_t> line = NumberOf(*position, "line"), character = NumberOf(*position, "character");
  if (!line || !character) return std::nullopt;
  return Position{*line, *character};
}

Json JsonOf(Position position) {
  return {{"line", position.line}, {"character", position.character}};
}
Json JsonOf(const Range& range) {
  return {{"start", JsonOf(range.begin)}, {"end", JsonOf(range.end)}};
}

/// A place in the document that is open as `uri` from `path`, or in another file.
Json LocationOf(const FilePlace& place, const std::string& uri, const std::string& path) {
  if (place.path == path) return {{"uri", uri}, {"range", JsonOf(place.range)}};
  std::error_code failed;
  std::filesystem::path whole = std::filesystem::absolute(place.path, failed);
  return {{"uri", UriOfPath(failed ? place.path : whole.lexically_normal().string())},
          {"range", JsonOf(place.range)}};
}

/// The protocol's number for it.
int KindOf(CompletionItem::Kind kind) {
  switch (kind) {
    case CompletionItem::Kind::Value:
      return 6;
    case CompletionItem::Kind::Symbol:
      return 3;
    case CompletionItem::Kind::Type:
      return 22;
    case CompletionItem::Kind::Operation:
      return 24;
    case CompletionItem::Kind::Keyword:
      return 14;
  }
  return 1;
}

int SeverityOf(diag::Severity severity) {
  switch (severity) {
    case diag::Severity::Error:
      return 1;
    case diag::Severity::Warning:
      return 2;
    case diag::Severity::Remark:
      return 3;
  }
  return 1;
}

std::string PathOf(const std::string& uri) {
  return PathOfUri(uri).value_or(uri);
}

}  // namespace

const LanguageServer::Method LanguageServer::kMethods[] = {
    {"textDocument/formatting", &LanguageServer::Formatting, false},
    {"textDocument/hover", &LanguageServer::HoverOf, true},
    {"textDocument/definition", &LanguageServer::Definition, true},
    {"textDocument/references", &LanguageServer::References, true},
    {"textDocument/completion", &LanguageServer::Complete, true},
    {"textDocument/rename", &LanguageServer::Rename, true},
};

void LanguageServer::Send(const Json& message) {
  send_(message.dump(-1, ' ', true, Json::error_handler_t::replace));
}

void LanguageServer::Fail(const Json& id, int code, const std::string& text) {
  Send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}});
}

void LanguageServer::Refuse(const std::string& reason) {
  Fail(nullptr, kParseError, reason);
}

void LanguageServer::Take(const std::string& message) {
  constexpr int kDeepest = 64;  // to copy and to release a value takes a call a level
  bool is_deep = false;
  auto take = [&](int depth, Json::parse_event_t, Json&) { return !(is_deep |= depth > kDeepest); };
  Json json = Json::parse(message, take, /*allow_exceptions=*/false);
  if (is_deep) return Refuse("the message nests deeper than " + std::to_string(kDeepest) + " levels");
  if (json.is_discarded()) return Refuse("the message is no JSON");
  const Json* id = Member(json, {"id"});
  bool good_id = id != nullptr && (id->is_string() || id->is_number_integer());
  std::optional<std::string> method = TextOf(json, {"method"});
  bool answers = id != nullptr && (json.contains("result") || json.contains("error"));
  if (!method && answers) return;  // no request to the client matters
  if (!method || (id != nullptr && !good_id))
    return Fail(good_id ? *id : Json(), kInvalidRequest,
                "a request has a method, and a number or text as id");
  const Json* found = Member(json, {"params"});
  const Json parameters = found == nullptr ? Json::object() : *found;
  if (id == nullptr) {
    Note(*method, parameters);
  } else {
    AnswerRequest(*id, *method, parameters);
  }
}

LanguageServer::Open* LanguageServer::Find(const Json& parameters) {
  std::optional<std::string> uri = TextOf(parameters, {"textDocument", "uri"});
  auto found = uri ? documents_.find(*uri) : documents_.end();
  return found == documents_.end() ? nullptr : &found->second;
}

void LanguageServer::AnswerRequest(const Json& id, const std::string& method, const Json& parameters) {
  auto succeed = [&](Json result) { Send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}); };
  if (shut_down_) return Fail(id, kInvalidRequest, "the server is shut down");
  if (method == "initialize") {
    initialised_ = true;
    return succeed({{"capabilities",
                     {{"positionEncoding", "utf-16"},
                      {"textDocumentSync", {{"openClose", true}, {"change", 1}}},
                      {"documentFormattingProvider", true},
                      {"hoverProvider", true},
                      {"definitionProvider", true},
                      {"referencesProvider", true},
                      {"renameProvider", true},
                      {"completionProvider", {{"triggerCharacters", {"%", "@"}}}}}},
                    {"serverInfo", {{"name", "adc"}, {"version", product::kVersion}}}});
  }
  if (!initialised_) return Fail(id, kNotInitialised, "the first request is 'initialize'");
  if (method == "shutdown") {
    shut_down_ = true;
    return succeed(nullptr);
  }
  const auto* known = std::ranges::find(kMethods, std::string_view(method), &Method::name);
  if (known == std::end(kMethods)) return Fail(id, kMethodNotFound, "no method '" + method + "'");
  Open* open = Find(parameters);
  if (open == nullptr) return Fail(id, kInvalidParameters, "no open document is named");
  if (known->wants_position && !PositionOf(parameters))
    return Fail(id, kInvalidParameters, "a position has a line and a character, from 0");
  failure_.clear();
  if (known->wants_position) open->document.Analyse({});
  if (open->document.IsShader() && known->answer != &LanguageServer::HoverOf) return succeed(nullptr);
  Json result = (this->*known->answer)(parameters, *open);
  if (failure_.empty()) return succeed(std::move(result));
  Fail(id, kRequestFailed, failure_);
}

void LanguageServer::Note(const std::string& method, const Json& parameters) {
  if (method == "exit") ended_ = true;
  if (!initialised_ || shut_down_) return;
  std::optional<std::string> uri = TextOf(parameters, {"textDocument", "uri"});
  if (!uri) return;
  if (method == "textDocument/didOpen") {
    std::optional<std::string> text = TextOf(parameters, {"textDocument", "text"});
    InputKind kind = InputKindOf(PathOf(*uri));
    if (!text || (kind != InputKind::Text && kind != InputKind::Glsl && kind != InputKind::Hlsl)) return;
    Open& open =
        documents_.insert_or_assign(*uri, Open{*uri, Document(PathOf(*uri), options_)}).first->second;
    open.document.SetText(*text);
  } else if (method == "textDocument/didChange") {
    Open* open = Find(parameters);
    const Json* changes = Member(parameters, {"contentChanges"});
    if (open == nullptr || changes == nullptr || !changes->is_array() || changes->empty()) return;
    std::optional<std::string> text = TextOf(changes->back(), {"text"});
    if (!text) return;
    open->document.SetText(*text);
    open->published = false;
  } else if (method == "textDocument/didClose" && documents_.erase(*uri) != 0) {
    Send({{"jsonrpc", "2.0"},
          {"method", "textDocument/publishDiagnostics"},
          {"params", {{"uri", *uri}, {"diagnostics", Json::array()}}}});
  }
}

bool LanguageServer::PublishOne() {
  for (auto& [uri, open] : documents_) {
    if (open.published) continue;
    if (!open.document.Analyse(is_ready_)) return true;
    open.published = true;
    Publish(open);
    return true;
  }
  return false;
}

void LanguageServer::Publish(const Open& open) {
  Json diagnostics = Json::array();
  for (const DocumentMessage& message : open.document.Messages()) {
    Json one = {{"range", JsonOf(message.range)},
                {"severity", SeverityOf(message.severity)},
                {"code", message.id},
                {"source", "adc"},
                {"message", message.text}};
    if (!error_page_.empty()) one["codeDescription"] = {{"href", error_page_ + "#" + message.id}};
    for (const DocumentMessage::Related& related : message.related) {
      one["relatedInformation"].push_back(
          {{"location", LocationOf(related.place, open.uri, PathOf(open.uri))}, {"message", related.text}});
    }
    diagnostics.push_back(std::move(one));
  }
  Send({{"jsonrpc", "2.0"},
        {"method", "textDocument/publishDiagnostics"},
        {"params", {{"uri", open.uri}, {"diagnostics", std::move(diagnostics)}}}});
}

Json LanguageServer::Formatting(const Json&, Open& open) {
  std::optional<std::string> text = open.document.Formatted(&failure_);
  Json edits = Json::array();
  if (text && *text != open.document.Text())
    edits.push_back({{"range", JsonOf(open.document.WholeRange())}, {"newText", *text}});
  return edits;
}

Json LanguageServer::HoverOf(const Json& parameters, Open& open) {
  Position at = *PositionOf(parameters);
  std::optional<Hover> hover =
      open.document.IsShader() ? open.document.HoverOfLine(at) : open.document.HoverAt(at);
  if (!hover) return nullptr;
  return {{"contents", {{"kind", "markdown"}, {"value", hover->text}}}, {"range", JsonOf(hover->range)}};
}

Json LanguageServer::Definition(const Json& parameters, Open& open) {
  std::optional<FilePlace> place = open.document.DefinitionOf(*PositionOf(parameters));
  if (!place) return nullptr;
  return LocationOf(*place, open.uri, PathOf(open.uri));
}

Json LanguageServer::References(const Json& parameters, Open& open) {
  Json places = Json::array();
  for (const Range& range : open.document.UsesOf(*PositionOf(parameters)))
    places.push_back({{"uri", open.uri}, {"range", JsonOf(range)}});
  return places;
}

Json LanguageServer::Complete(const Json& parameters, Open& open) {
  Json items = Json::array();
  for (const CompletionItem& one : open.document.Completions(*PositionOf(parameters))) {
    Json item = {{"label", one.label}, {"kind", KindOf(one.kind)}};
    if (!one.detail.empty()) item["detail"] = one.detail;
    if (!one.documentation.empty()) item["documentation"] = one.documentation;
    items.push_back(std::move(item));
  }
  return items;
}

Json LanguageServer::Rename(const Json& parameters, Open& open) {
  std::optional<std::string> name = TextOf(parameters, {"newName"});
  if (!name) {
    failure_ = "no new name is given";
    return nullptr;
  }
  Json edits = Json::array();
  for (const TextEdit& edit : open.document.Rename(*PositionOf(parameters), *name, &failure_))
    edits.push_back({{"range", JsonOf(edit.range)}, {"newText", edit.text}});
  return {{"changes", {{open.uri, std::move(edits)}}}};
}

}  // namespace adc::tool

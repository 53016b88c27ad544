// Diagnostics as JSON, one object per line. All of it is ASCII: the user's text that a message quotes reaches
// a terminal as escapes alone, and malformed UTF-8 becomes a replacement mark.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "diag/diagnostics.h"
#include "diag/severity_word.h"

namespace adc::diag {
namespace {

using Json = nlohmann::ordered_json;

/// Adds the place, or nothing where there is none.
void AddPlace(const SourceManager& sources, SourceSpan span, Json* object) {
  const SourceFile* file = sources.FileOf(span);
  if (file == nullptr) return;
  LineColumn begin = sources.Locate(span);
  LineColumn end = sources.Locate({std::max(span.end, span.begin), std::max(span.end, span.begin)});
  object->update({{"file", file->name},
                  {"line", begin.line},
                  {"column", begin.column},
                  {"end_line", end.line},
                  {"end_column", end.column}});
}

}  // namespace

std::string PrintDiagnosticsJson(const Diagnostics& diagnostics, const SourceManager& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.All()) {
    Json object = {{"severity", SeverityWord(diagnostic.severity)},
                   {"id", InfoOf(diagnostic.id).id},
                   {"message", diagnostic.text}};
    AddPlace(sources, diagnostic.span, &object);
    for (const Note& note : diagnostic.notes) {
      Json& added = object["notes"].emplace_back(Json{{"message", note.text}});
      AddPlace(sources, note.span, &added);
    }
    if (!diagnostic.help.empty()) object["help"] = diagnostic.help;
    out += object.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  }
  return out;
}

}  // namespace adc::diag

// Diagnostics as one log in SARIF 2.1.0, the form that services for code review read.
//
// A remedy is text and no edit, so that it is part of the message and no `fix`. Columns count UTF-16 units
// from 1.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "diag/diagnostics.h"
#include "diag/examples.h"
#include "diag/severity_word.h"
#include "support/uri.h"
#include "support/utf16.h"

namespace adc::diag {
namespace {

using Json = nlohmann::ordered_json;

const char* LevelFor(Severity severity) {
  return severity == Severity::Remark ? "note" : SeverityWord(severity);
}

std::string TextOf(const Json& log) {
  return log.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

class SarifPrinter {
 public:
  SarifPrinter(const SourceManager& sources, std::string_view version)
      : sources_(sources), version_(version) {}

  std::string Print(const Diagnostics& diagnostics) {
    Json results = Json::array();
    for (const Diagnostic& one : diagnostics.All()) results.push_back(ResultOf(one));
    Json run = {{"tool", {{"driver", {{"name", "adc"}, {"version", version_}, {"rules", rules_}}}}},
                {"columnKind", "utf16CodeUnits"},
                {"results", std::move(results)}};
    Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"},
                {"runs", Json::array({std::move(run)})}};
    return TextOf(log);
  }

 private:
  Json ResultOf(const Diagnostic& diagnostic) {
    std::string text = diagnostic.text;
    Json related = Json::array();
    for (const Note& note : diagnostic.notes) {
      Json place = PlaceOf(note.span);
      if (place.is_null()) {
        text += "\nnote: " + note.text;
      } else {
        related.push_back({{"physicalLocation", std::move(place)}, {"message", {{"text", note.text}}}});
      }
    }
    if (!diagnostic.help.empty()) text += "\nhelp: " + diagnostic.help;
    Json result = {{"ruleId", InfoOf(diagnostic.id).id},
                   {"ruleIndex", RuleOf(diagnostic.id)},
                   {"level", LevelFor(diagnostic.severity)},
                   {"message", {{"text", text}}}};
    Json place = PlaceOf(diagnostic.span);
    if (!place.is_null()) result["locations"] = Json::array({{{"physicalLocation", std::move(place)}}});
    if (!related.empty()) result["relatedLocations"] = std::move(related);
    return result;
  }

  /// The position of the rule, which is listed at its first use.
  size_t RuleOf(ErrorId id) {
    auto [found, fresh] = positions_.try_emplace(id, rules_.size());
    if (fresh) {
      const ErrorInfo& info = InfoOf(id);
      rules_.push_back({{"id", info.id},
                        {"shortDescription", {{"text", info.title}}},
                        {"help", HelpOf(info)},
                        {"defaultConfiguration", {{"level", info.id[0] == 'W' ? "warning" : "error"}}}});
    }
    return found->second;
  }

  /// Why, an example and the way out. There is no `helpUri`: a log is read on other machines than this one,
  /// which do not have the pages installed here.
  static Json HelpOf(const ErrorInfo& info) {
    std::string text(info.explanation), example(ExampleOf(info.id).text);
    if (example.empty()) return {{"text", text}};
    return {{"text", text + "\n\n" + example}, {"markdown", text + "\n\n```\n" + example + "```\n"}};
  }

  /// Null where there is none.
  Json PlaceOf(SourceSpan span) const {
    const SourceFile* file = sources_.FileOf(span);
    if (file == nullptr) return nullptr;
    LineColumn begin = sources_.Locate(span);
    uint32_t last = std::max(span.end, span.begin);
    LineColumn end = sources_.Locate({last, last});
    return {{"artifactLocation", {{"uri", UriOfPath(file->name)}}},
            {"region",
             {{"startLine", begin.line},
              {"startColumn", ColumnOf(*file, begin)},
              {"endLine", end.line},
              {"endColumn", ColumnOf(*file, end)}}}};
  }

  size_t ColumnOf(const SourceFile& file, LineColumn place) const {
    return Utf16Length(sources_.LineText(file, place.line).substr(0, place.column - 1)) + 1;
  }

  const SourceManager& sources_;
  std::string_view version_;
  Json rules_ = Json::array();
  std::map<ErrorId, size_t> positions_;
};

}  // namespace

std::string PrintDiagnosticsSarif(const Diagnostics& diagnostics, const SourceManager& sources,
                                  std::string_view version) {
  return SarifPrinter(sources, version).Print(diagnostics);
}

std::string JoinSarif(const std::vector<std::string>& logs) {
  if (logs.size() == 1) return logs.front();
  Json whole = Json::parse(logs.front());
  Json& run = whole["runs"][0];
  Json& rules = run["tool"]["driver"]["rules"];
  for (size_t at = 1; at < logs.size(); ++at) {
    Json other = Json::parse(logs[at])["runs"][0];
    for (Json& result : other["results"]) {
      auto known = std::find_if(rules.begin(), rules.end(),
                                [&](const Json& rule) { return rule["id"] == result["ruleId"]; });
      Json& rule = other["tool"]["driver"]["rules"][result["ruleIndex"].get<size_t>()];
      result["ruleIndex"] = known - rules.begin();
      if (known == rules.end()) rules.push_back(rule);
      run["results"].push_back(std::move(result));
    }
  }
  return TextOf(whole);
}

}  // namespace adc::diag

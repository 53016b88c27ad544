#include "provision_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace adc::tool {

namespace {

std::string_view WayText(autodiff::ProvisionNote::Way way) {
  constexpr std::string_view kWays[] = {"taped", "checkpoint", "contents", "inverted",
                                        "read",  "recomputed", "loaded"};
  return kWays[static_cast<size_t>(way)];
}

}  // namespace

Json ProvisionJson(const std::string& gradient, const autodiff::ProvisionNote& note, const Json& file,
                   const diag::SourceManager& sources) {
  diag::LineColumn at = sources.Locate(note.place);
  return {{"kernel", gradient},
          {"way", WayText(note.way)},
          {"name", note.name},
          {"type", ir::Spelling(note.scalar)},
          {"file", file},
          {"line", at.line},
          {"column", at.column},
          {"unit", note.unit},
          {"unit_place", sources.Describe(note.unit_place)},
          {"bits", note.bits},
          {"operations", note.operations},
          {"from", note.from},
          {"reason", note.reason}};
}

}  // namespace adc::tool

#include "report_stacks.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "artifact/metadata.h"
#include "product/text_digest.h"

namespace adc::tool {

namespace {

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

struct Place {
  uint32_t line = 0, column = 0;
};

/// "relax.ir:4:10" in the file "relax.ir"; none of a place elsewhere.
std::optional<Place> PlaceIn(std::string_view text, std::string_view file) {
  if (!text.starts_with(file) || text.substr(file.size(), 1) != ":") return std::nullopt;
  text.remove_prefix(file.size() + 1);
  Place place;
  const char* end = text.data() + text.size();
  auto line = std::from_chars(text.data(), end, place.line);
  if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') return std::nullopt;
  auto column = std::from_chars(line.ptr + 1, end, place.column);
  return column.ec == std::errc() && column.ptr == end ? std::optional(place) : std::nullopt;
}

uint32_t BitsOf(std::string_view type) {
  constexpr std::pair<std::string_view, uint32_t> kSizes[] = {
#define ADC_SCALAR_TYPE(name, spelling, bytes) {spelling, 8 * (bytes)},
#include "artifact/scalar_types.def"
#undef ADC_SCALAR_TYPE
  };
  auto found = std::ranges::find(kSizes, type, [](const auto& size) { return size.first; });
  return found == std::end(kSizes) ? 0 : found->second;
}

/// Copies of buffers and promises hold no value of the source.
bool HoldsValue(const Json& stack) {
  return stack.value("param", -1) == -1 && stack["storage"] != "promise";
}

Json NoteOf(const Json& kernel, const Json& stack, Place place) {
  bool is_flag = stack.value("bits", false);
  std::string type = is_flag ? "i1" : stack["type"].get<std::string>();
  return {{"kernel", kernel["name"]},
          {"way", "taped"},
          {"name", stack.value("value", "")},
          {"type", type},
          {"file", 0},
          {"line", place.line},
          {"column", place.column},
          {"unit", ""},
          {"unit_place", ""},
          {"bits", is_flag ? 1 : BitsOf(type)},
          {"operations", 0},
          {"from", Json::array()},
          {"reason", ""}};
}

}  // namespace

std::optional<std::string> SourceNamed(const Json& metadata, const std::string& path, std::string* failure) {
  std::vector<std::string> alike;
  std::string all;
  // A merged bundle has a name twice, where the texts differ.
  for (const std::string& name : metadata["sources"].get<std::set<std::string>>()) {
    if (name == path) return name;
    if (FileName(name) == FileName(path)) alike.push_back(name);
    all += (all.empty() ? "" : ", ") + name;
  }
  if (alike.size() == 1) return alike.front();
  *failure = alike.empty()
                 ? "the bundle was not compiled from a file of the name '" + FileName(path) + "'"
                 : "the bundle was compiled from several files of the name '" + FileName(path) + "'";
  *failure += all.empty() ? ": it names none" : ": it names " + all;
  return std::nullopt;
}

std::optional<bool> IsTextOf(const Json& metadata, const std::string& source, const std::string& text) {
  auto digests = metadata.find("source_digests");
  if (digests == metadata.end()) return std::nullopt;
  bool all_known = true;
  for (size_t at = 0; at < digests->size(); ++at) {  // merged bundles may have several texts of one name
    if (metadata["sources"][at] != source) continue;
    if ((*digests)[at] == product::TextDigest(text)) return true;
    all_known = all_known && (*digests)[at] != "";
  }
  return all_known && !digests->empty() ? std::optional(false) : std::nullopt;
}

Json StackNotes(const Json& metadata, const std::string& source) {
  Json notes = Json::array();
  std::vector<Json> seen;  // of one kernel: targets have plans of their own
  for (const Json& kernel : metadata["kernels"]) {
    seen.clear();
    for (const Json& task : kernel["tasks"]) {
      for (const Json& plan : task["plans"]) {
        for (const Json& stack : plan["stacks"]) {
          std::optional<Place> place = PlaceIn(stack["place"].get<std::string>(), source);
          if (!place || !HoldsValue(stack)) continue;
          Json note = NoteOf(kernel, stack, *place);
          if (std::ranges::find(seen, note) == seen.end()) seen.push_back(std::move(note));
        }
      }
    }
    std::ranges::sort(seen, {}, [](const Json& note) {
      return std::tuple(note["line"].get<uint32_t>(), note["column"].get<uint32_t>(),
                        note["name"].get<std::string>(), note["type"].get<std::string>());
    });
    for (Json& note : seen) notes.push_back(std::move(note));
  }
  return notes;
}

}  // namespace adc::tool

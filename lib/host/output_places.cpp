#include "host/output_places.h"

#include <filesystem>
#include <map>
#include <optional>

namespace adc {

namespace {

namespace fs = std::filesystem;

/// One text for all names of a place that holds one file; none for what takes any number of writers.
std::optional<std::string> NameOfPlace(const std::string& path) {
  if (path == "-") return path;
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  bool is_device = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  if (is_device) return std::nullopt;
  fs::path absolute = fs::absolute(path, error);
  fs::path place = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal().string() : place.string();
}

}  // namespace

FileStatus KeepSources(const std::vector<std::string>& outputs, const std::vector<std::string>& read) {
  for (const std::string& output : outputs) {
    for (const std::string& source : read) {
      std::error_code missing;
      if (output == "-" || !fs::equivalent(output, source, missing)) continue;
      return FileFailure{"the output '" + output + "' would replace the input '" + source + "'",
                         "name another file"};
    }
  }
  return FileDone{};
}

FileStatus KeepApart(const std::vector<std::string>& outputs) {
  std::map<std::string, std::string> names;
  for (const std::string& output : outputs) {
    std::optional<std::string> place = NameOfPlace(output);
    if (!place) continue;
    auto [first, is_new] = names.emplace(*place, output);
    if (is_new) continue;
    std::string where = output == "-" ? "standard output" : "'" + output + "'";
    bool renamed = first->second != output;
    return FileFailure{"two outputs would both be written to " + where +
                           (renamed ? ", which '" + first->second + "' is too" : ""),
                       "name a file for each"};
  }
  return FileDone{};
}

}  // namespace adc

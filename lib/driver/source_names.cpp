#include "driver/source_names.h"

#include <filesystem>

namespace adc::driver {

std::string MapPrefix(const CompileOptions& options, std::string name) {
  for (auto entry = options.prefix_map.rbegin(); entry != options.prefix_map.rend(); ++entry) {
    if (name.starts_with(entry->first)) return entry->second + name.substr(entry->first.size());
  }
  return name;
}

std::string ProductName(const std::string& name, const std::vector<std::string>& inputs,
                        const CompileOptions& options) {
  if (name.starts_with("-D ")) return name;  // the text of a definition on the command line
  for (const auto& [before, after] : options.prefix_map) {
    if (!after.empty() && name.starts_with(after)) return name;
  }
  std::vector<std::string> folders;
  for (const std::string& input : inputs) {
    folders.push_back(MapPrefix(options, std::filesystem::path(input).parent_path().string()));
    folders.push_back(std::filesystem::absolute(input).parent_path().string());
  }
  folders.insert(folders.end(), options.include_dirs.begin(), options.include_dirs.end());
  for (const std::string& folder : folders) {
    std::string head = folder.ends_with('/') || folder.empty() ? folder : folder + "/";
    bool relative = !name.starts_with('/') || !head.empty();
    if (relative && name.starts_with(head)) return name.substr(head.size());
  }
  return std::filesystem::path(name).filename().string();
}

}  // namespace adc::driver

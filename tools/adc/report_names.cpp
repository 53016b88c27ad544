#include "report_names.h"

#include <algorithm>

namespace adc::tool {

namespace {

bool IsAbsolute(std::string_view name) {
  return name.starts_with('/') || (name.size() > 2 && name[1] == ':' && (name[2] == '/' || name[2] == '\\'));
}

/// The last `parts` parts of a name.
std::string_view Tail(std::string_view name, size_t parts) {
  size_t at = name.size();
  for (; parts > 0 && at != 0 && at != std::string_view::npos; --parts) at = name.find_last_of("/\\", at - 1);
  return at == 0 || at == std::string_view::npos ? name : name.substr(at + 1);
}

}  // namespace

PageNames::PageNames(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    if (!IsAbsolute(file)) continue;
    size_t most = static_cast<size_t>(std::count(file.begin(), file.end(), '/')), parts = 1;
    auto is_shared = [&](std::string_view tail) {
      return std::any_of(files.begin(), files.end(), [&](const std::string& other) {
        return other != file && IsAbsolute(other) && Tail(other, parts) == tail;
      });
    };
    while (parts < most && is_shared(Tail(file, parts))) ++parts;
    short_[file] = Tail(file, parts);
  }
}

std::string PageNames::File(std::string_view file) const {
  auto found = short_.find(file);
  if (found != short_.end()) return found->second;
  return std::string(IsAbsolute(file) ? Tail(file, 1) : file);
}

std::string PageNames::Place(std::string_view text) const {
  if (!IsAbsolute(text)) return std::string(text);
  size_t end = text.size();
  for (int number = 0; number < 2; ++number) {
    size_t colon = text.substr(0, end).find_last_of(':');
    bool digits =
        colon != std::string_view::npos && colon + 1 < end &&
        std::all_of(text.begin() + static_cast<ptrdiff_t>(colon) + 1,
                    text.begin() + static_cast<ptrdiff_t>(end), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) break;
    end = colon;
  }
  return File(text.substr(0, end)) + std::string(text.substr(end));
}

}  // namespace adc::tool

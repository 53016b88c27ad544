#include "host/installed.h"

#include <string>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

namespace adc {

namespace fs = std::filesystem;

fs::path OwnFolder() {
  std::wstring name(32768, L'\0');  // the longest path that Windows has
  DWORD length = GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
  return length == 0 || length == name.size() ? fs::path() : fs::path(name.substr(0, length)).parent_path();
}

fs::path InstalledFile(std::string_view name) {
  fs::path own = OwnFolder();
  if (own.empty()) return {};
  fs::path place = own.parent_path() / "lib" / "adc" / name;
  std::error_code failure;
  return fs::exists(place, failure) ? place : fs::path();
}

}  // namespace adc

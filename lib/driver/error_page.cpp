#include "driver/error_page.h"

#include "host/installed.h"
#include "support/uri.h"

namespace adc::driver {

std::string ErrorPageUri() {
  std::filesystem::path page = InstalledFile("errors.html");
  if (page.empty()) return "";
  std::string path = page.generic_string();
  return UriOfPath(path.starts_with('/') ? path : "/" + path);  // "/C:/..." on Windows
}

}  // namespace adc::driver

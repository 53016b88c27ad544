#include "diag/examples.h"

#include <string>

#include "support/check.h"

namespace adc::diag {

extern const char* const kExamplesText;  // written by CMake from errors/examples.txt

Example ExampleOf(std::string_view id) {
  std::string_view all = kExamplesText;
  std::string heading = "== " + std::string(id);
  size_t begin = all.starts_with(heading) ? 0 : all.find("\n" + heading);
  ADC_CHECK(begin != std::string_view::npos, "an error id that examples.txt lacks");
  all.remove_prefix(begin + heading.size() + (begin == 0 ? 0 : 1));
  size_t line = all.find('\n');
  if (line > 2) return {{}, all.substr(2, line - 2)};  // ": why there is none"
  all.remove_prefix(line + 1);
  size_t end = all.find("\n== ");
  return {all.substr(0, end == std::string_view::npos ? all.size() : end + 1), {}};
}

}  // namespace adc::diag

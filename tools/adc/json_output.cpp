#include "json_output.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace adc::tool {

void PrintJson(const Json& value) {
  std::string text = value.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace adc::tool

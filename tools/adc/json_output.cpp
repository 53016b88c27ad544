#include "json_output.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "print.h"

namespace adc::tool {

void PrintJson(const Json& value) {
  std::string text = value.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
  PrintLines(text);
}

}  // namespace adc::tool

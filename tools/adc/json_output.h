#pragma once
// JSON that commands print.

#include <nlohmann/json_fwd.hpp>

namespace adc::tool {

/// Objects keep the order in which their members were added.
using Json = nlohmann::ordered_json;

/// Prints one value, in ASCII; malformed UTF-8 becomes a replacement mark.
void PrintJson(const Json& value);

}  // namespace adc::tool

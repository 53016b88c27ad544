#pragma once
// The page of `adc report`: HTML, style and script, which lie in the folder report, around the data.

#include <string>

#include "json_output.h"

namespace adc::tool {

/// Whole in one text. It asks no network for anything, and its browser runs no script but its own.
std::string ReportPage(const Json& data);

}  // namespace adc::tool

#pragma once
// The provision of a gradient for a value, as `adc report` and `adc explain` give it to programs.

#include <string>

#include "autodiff/provisions.h"
#include "json_output.h"

namespace adc::tool {

/// `file`: the name or number of the file that the value is made in.
Json ProvisionJson(const std::string& gradient, const autodiff::ProvisionNote& note, const Json& file,
                   const diag::SourceManager& sources);

}  // namespace adc::tool

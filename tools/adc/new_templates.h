#pragma once
// The files of a new project, with @name@ and @source@ to be filled in.

#include <string_view>

namespace adc::tool {

extern const std::string_view kNewText, kNewCpp, kNewMain, kNewBuild, kNewReadme;

}  // namespace adc::tool

#pragma once
// Every message on one page of HTML, with its id as its anchor.

#include <string>

namespace adc::tool {

/// The page. It needs nothing else: no file, no script.
std::string ErrorsPage();

}  // namespace adc::tool

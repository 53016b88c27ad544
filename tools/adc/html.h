#pragma once
// Text in pages of HTML.

#include <string>
#include <string_view>

namespace adc::tool {

/// `text` with what HTML would read as marks written out.
std::string EscapedHtml(std::string_view text);

}  // namespace adc::tool

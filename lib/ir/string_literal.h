#pragma once
// Texts between quotes, as the IR writes them.

#include <string>
#include <string_view>

namespace adc::ir {

/// `"a \"word\"\n"`: `text` with what ends it or is not printable escaped, so that it reads back.
std::string StringLiteral(std::string_view text);

}  // namespace adc::ir

#pragma once
// Mutations of IR text by its tokens and its braces, so that most of what comes out still parses.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace adc::fuzz {

/// Changes `text` in one to four places. `others` supply pieces; the same arguments give the same text.
std::string MutateText(std::string_view text, const std::vector<std::string>& others, uint64_t seed);

}  // namespace adc::fuzz

#pragma once
// A shader's text as its readers see it: what is code, and what is a comment or a text in quotes.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace adc::frontend::glsl {

inline constexpr std::string_view kBlanks = " \t\r\n";

/// A stretch of a text.
struct Range {
  size_t begin = 0, end = 0;
};

/// Blanks a stretch; ends of lines stay.
void Blank(std::string& text, Range range);

/// `text` with blanks for comments and texts in quotes. `comments`, if given, gets what stands in comments.
std::string CodeOf(const std::string& text, std::vector<Range>* comments = nullptr);

}  // namespace adc::frontend::glsl

#pragma once
// Text from elsewhere, as it may be shown. Terminals obey control characters, and some characters turn the
// direction of the text around them, so that a line shows other than it says.

#include <cstddef>
#include <string>
#include <string_view>

namespace adc {

/// Length of the well-formed UTF-8 sequence at `at`; 0 where there is none.
size_t SequenceAt(std::string_view text, size_t at);

/// Whether the sequence at `at` is no part of a line: a control character (U+0000 to U+001F, U+007F to
/// U+009F), an end of a line or paragraph (U+2028, U+2029), or what turns the direction of text (U+061C,
/// U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069).
bool IsHidden(std::string_view text, size_t at);

/// The text with hidden characters as \uXXXX and bytes that are no UTF-8 as \xXX: one line.
std::string Printable(std::string_view text);
/// The same for text of several lines: their ends and tabs stay.
std::string PrintableLines(std::string_view text);

}  // namespace adc

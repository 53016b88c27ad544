#pragma once
// Positions as editors and reports count them: in UTF-16 code units.

#include <cstddef>
#include <string_view>

namespace adc {

/// How many units `text` has. A byte that is no UTF-8 counts as one.
size_t Utf16Length(std::string_view text);

/// The offset in `line` of the character that begins at unit `units`, or that holds it; the length of the
/// line where it has fewer.
size_t Utf16Offset(std::string_view line, size_t units);

}  // namespace adc

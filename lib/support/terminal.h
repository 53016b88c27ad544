#pragma once
// Standard error, and the terminal that it may be.

#include <string_view>

namespace adc {

/// Whether standard error is a terminal that wants colour (NO_COLOR, TERM=dumb).
bool ColorOnStandardError();

/// Writes to standard error, whole.
void PrintToStandardError(std::string_view text);

}  // namespace adc

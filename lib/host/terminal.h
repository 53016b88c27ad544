#pragma once
// Standard error, and the terminal that it may be.

#include <string_view>

namespace adc {

/// Whether standard error is a terminal that wants colour (NO_COLOR, TERM=dumb).
bool ColorOnStandardError();

/// Whether it also takes links (OSC 8). Linux's own console prints what it does not know.
bool LinksOnStandardError();

/// Has the three standard streams take and give bytes as they are, where a system would change the ends of
/// lines.
void UseBytesAsTheyAre();

/// Writes to standard error, whole.
void PrintToStandardError(std::string_view text);

}  // namespace adc

#pragma once
// The text of a file in the usual form: one statement a line, two blanks for each region, blanks as the
// printer of modules sets them. Nothing but white space changes.

#include <string>

#include "diag/diagnostics.h"

namespace adc::parse {

/// `file` formatted; flat text that a module prints as is its own form. Formatted text stays as it is.
/// Comments stay where they are, on lines of their own or after the tokens that they follow, and so do line
/// breaks inside of statements. False, after errors to `diagnostics`, where the text has no tokens or its
/// brackets do not match.
bool FormatText(const diag::SourceFile& file, diag::Diagnostics& diagnostics, std::string* formatted);

}  // namespace adc::parse

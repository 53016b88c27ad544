#pragma once
// Files that are no text, among them bundles, which are often given in place of their sources.

#include <string>
#include <string_view>

#include "diag/diagnostics.h"

namespace adc::parse {

/// Whether `text` of the file `name` is text; if not, an error is added at `from`.
bool IsText(const std::string& name, std::string_view text, diag::SourceSpan from,
            diag::Diagnostics& diagnostics);

}  // namespace adc::parse

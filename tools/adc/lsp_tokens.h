#pragma once
// The tokens of a document, for words under the cursor.

#include <string_view>
#include <vector>

#include "diag/source.h"
#include "parse/lexer.h"

namespace adc::tool {

std::vector<parse::Token> TokensOf(const diag::SourceFile& file);

/// The token that holds `offset`, or else ends there; the position past the last one where none does.
size_t TokenAt(const std::vector<parse::Token>& tokens, size_t offset);

}  // namespace adc::tool

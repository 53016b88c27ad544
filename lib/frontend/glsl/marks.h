#pragma once
// Statements of a shader's text about its blocks, beyond its language.

#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "frontend/spirv/marked_name.h"

namespace adc::frontend::glsl {

/// Finds the markers of `text`, which stands at `base` of its sources: `// adc: WORDS` after a declaration,
/// on its line, and `[[adc::WORD]]` in front of one. A marker after the brace of a block names the block.
/// Attributes of ours are replaced by blanks, so that places stay. E0863 for a word that no marker has and
/// for a marker without a declaration; false after one.
bool TakeMarks(std::string& text, uint32_t base, std::vector<spirv::MarkedName>& marked,
               diag::Diagnostics& diagnostics);

}  // namespace adc::frontend::glsl

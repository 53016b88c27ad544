#pragma once

namespace adc::transform {

/// The text of composed.ir, which CMake embeds.
extern const char* const kComposedText;

}  // namespace adc::transform

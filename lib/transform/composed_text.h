#pragma once

namespace adc::transform {

/// What CMake makes of composed.ir.
extern const char* const kComposedText;

}  // namespace adc::transform

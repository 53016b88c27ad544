#pragma once
// Ids of verify.def: a file that reports one includes this alone, so that a new id rebuilds few files.

#include "diag/errors.h"

namespace adc::diag {
#define ADC_ERROR(id, title, explanation) inline constexpr ErrorId id = IdOf(#id);
#include "diag/errors/verify.def"
#undef ADC_ERROR
}  // namespace adc::diag

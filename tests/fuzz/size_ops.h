#pragma once
// How many operations of size expressions there are: what fuzz targets draw from, and a little beyond.

#include <cstdint>

constexpr uint32_t kSizeOps = 0
#define ADC_SIZE_OP(...) +1
#include "artifact/size_ops.def"
#undef ADC_SIZE_OP
    ;

#define _GNU_SOURCE
#include "cpu/imports.h"

#include <math.h>
#include <string.h>

const struct adrt_import adrt_math_imports[] = {
#define ADC_MATH_IMPORT(symbol) {#symbol, (void (*)(void))symbol},
#include "artifact/math_imports.def"
#undef ADC_MATH_IMPORT
    {0, 0},
};

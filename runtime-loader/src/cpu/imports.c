#include "cpu/imports.h"

#include <math.h>
#include <string.h>

static const struct adrt_import kImports[] = {
#define ADC_MATH_IMPORT(symbol) {#symbol, (void (*)(void))symbol},
#include "artifact/math_imports.def"
#undef ADC_MATH_IMPORT
    {0, 0},
};

const struct adrt_import* adrt_math_import_table(void) {
  return kImports;
}

#include "cpu/imports.h"

#include <math.h>
#include <string.h>

#include "artifact/cpu_abi.h"

/* Images are code of the System V ABI. Where the C library's functions are called otherwise, as on Windows,
 * each gets a function of that ABI in front of it. */
#ifdef ADC_CPU_CALL_DIFFERS
#define OF_IMAGE(symbol) image_##symbol
#define F64_1(f)                                     \
  static double ADC_CPU_CALL OF_IMAGE(f)(double x) { \
    return f(x);                                     \
  }
#define F64_2(f)                                               \
  static double ADC_CPU_CALL OF_IMAGE(f)(double x, double y) { \
    return f(x, y);                                            \
  }
#define F64_3(f)                                                         \
  static double ADC_CPU_CALL OF_IMAGE(f)(double x, double y, double z) { \
    return f(x, y, z);                                                   \
  }
#define F32_1(f)                                   \
  static float ADC_CPU_CALL OF_IMAGE(f)(float x) { \
    return f(x);                                   \
  }
#define F32_2(f)                                            \
  static float ADC_CPU_CALL OF_IMAGE(f)(float x, float y) { \
    return f(x, y);                                         \
  }
#define F32_3(f)                                                     \
  static float ADC_CPU_CALL OF_IMAGE(f)(float x, float y, float z) { \
    return f(x, y, z);                                               \
  }
/* Not every C library has these. */
#define F64_SINCOS(f)                                                            \
  static void ADC_CPU_CALL OF_IMAGE(f)(double x, double* sine, double* cosine) { \
    *sine = sin(x);                                                              \
    *cosine = cos(x);                                                            \
  }
#define F32_SINCOS(f)                                                         \
  static void ADC_CPU_CALL OF_IMAGE(f)(float x, float* sine, float* cosine) { \
    *sine = sinf(x);                                                          \
    *cosine = cosf(x);                                                        \
  }
#define COPY(f)                                                                    \
  static void* ADC_CPU_CALL OF_IMAGE(f)(void* to, const void* from, size_t size) { \
    return f(to, from, size);                                                      \
  }
#define SET(f)                                                             \
  static void* ADC_CPU_CALL OF_IMAGE(f)(void* to, int byte, size_t size) { \
    return f(to, byte, size);                                              \
  }
#define ADC_MATH_IMPORT(symbol, form) form(symbol)
#include "artifact/math_imports.def"
#undef ADC_MATH_IMPORT
#else
#define OF_IMAGE(symbol) symbol
#endif

static const struct adrt_import kImports[] = {
#define ADC_MATH_IMPORT(symbol, form) {#symbol, (void (*)(void))OF_IMAGE(symbol)},
#include "artifact/math_imports.def"
#undef ADC_MATH_IMPORT
    {0, 0},
};

const struct adrt_import* adrt_math_import_table(void) {
  return kImports;
}

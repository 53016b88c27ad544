#pragma once
// The text of math_functions_f32.ir and math_functions_f64.ir, embedded by the build.

namespace adc::codegen {

extern const char* const kMathFunctionsF32;
extern const char* const kMathFunctionsF64;

}  // namespace adc::codegen

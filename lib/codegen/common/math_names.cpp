#include "codegen/common/math_names.h"

#include "ir/op_sets.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op;

const char* MathName(Op op) {
  if (op == Op::Rem) return "fmod";
  // clang-format off
  switch (ir::In<ir::LibraryFunction>(op)) {
    using enum ir::LibraryFunction;
    case Sin: return "sin";
    case Cos: return "cos";
    case Tan: return "tan";
    case Asin: return "asin";
    case Acos: return "acos";
    case Atan: return "atan";
    case Sinh: return "sinh";
    case Cosh: return "cosh";
    case Tanh: return "tanh";
    case Exp: return "exp";
    case Exp2: return "exp2";
    case Log: return "log";
    case Log2: return "log2";
    case Erf: return "erf";
    case Pow: return "pow";
    case Atan2: return "atan2";
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("function of a library");
}

}  // namespace adc::codegen

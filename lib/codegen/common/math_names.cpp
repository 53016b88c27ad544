#include "codegen/common/math_names.h"

#include "support/check.h"

namespace adc::codegen {

using ir::Op;

const char* MathName(Op op) {
  if (op == Op::Sin) return "sin";
  if (op == Op::Cos) return "cos";
  if (op == Op::Tan) return "tan";
  if (op == Op::Asin) return "asin";
  if (op == Op::Acos) return "acos";
  if (op == Op::Atan) return "atan";
  if (op == Op::Sinh) return "sinh";
  if (op == Op::Cosh) return "cosh";
  if (op == Op::Tanh) return "tanh";
  if (op == Op::Exp) return "exp";
  if (op == Op::Exp2) return "exp2";
  if (op == Op::Log) return "log";
  if (op == Op::Log2) return "log2";
  if (op == Op::Erf) return "erf";
  if (op == Op::Pow) return "pow";
  if (op == Op::Atan2) return "atan2";
  ADC_CHECK(op == Op::Rem, "an operation that is no library function");
  return "fmod";
}

}  // namespace adc::codegen

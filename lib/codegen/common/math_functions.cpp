// The text of the functions lies in math_functions_f32.ir and math_functions_f64.ir; the build makes strings
// of them (transform/embedded_text.h). It is ordinary IR: the parser, the verifier, the inliner and the
// simplifier that kernels go through make what the printers see.

#include "codegen/common/math_functions.h"

#include <string>

#include "codegen/common/math_functions_text.h"
#include "diag/diagnostics.h"
#include "ir/module.h"
#include "support/check.h"
#include "transform/embedded_text.h"
#include "transform/simplify.h"

namespace adc::codegen {
namespace {

constexpr ir::Op kOps[] = {ir::Op::Sin,   ir::Op::Cos,  ir::Op::Tan,  ir::Op::Asin, ir::Op::Acos,
                           ir::Op::Atan,  ir::Op::Sinh, ir::Op::Cosh, ir::Op::Tanh, ir::Op::Exp,
                           ir::Op::Exp2,  ir::Op::Log,  ir::Op::Log2, ir::Op::Erf,  ir::Op::Pow,
                           ir::Op::Atan2, ir::Op::Rem};
constexpr ir::Scalar kScalars[] = {ir::Scalar::F32, ir::Scalar::F64};

std::string NameOf(ir::Op op, ir::Scalar scalar) {
  return std::string(ir::InfoOf(op).spelling) + "." + std::string(ir::Spelling(scalar));
}

std::string TurnedSineName(ir::Scalar scalar) {
  return "turned_sine." + std::string(ir::Spelling(scalar));
}

size_t PositionOf(ir::Op op, ir::Scalar scalar) {
  return static_cast<size_t>(op) + (scalar == ir::Scalar::F64 ? ir::kOpCount : 0);
}

}  // namespace

MathFunctions::MathFunctions() {
  module_ =
      transform::ReadEmbeddedText("math_functions.ir", std::string(kMathFunctionsF32) + kMathFunctionsF64,
                                  transform::EmbeddedForm::Inlined);
  std::vector<unsigned char> keep(module_->functions.size(), 0);
  auto keep_function = [&](const std::string& name) {
    const ir::Function* function = module_->Find(name);
    ADC_CHECK(function != nullptr, "every function has a text for f32 and one for f64");
    for (size_t n = 0; n < keep.size(); ++n) keep[n] |= module_->functions[n].get() == function;
  };
  for (ir::Scalar scalar : kScalars) {
    for (ir::Op op : kOps) keep_function(NameOf(op, scalar));
    keep_function(TurnedSineName(scalar));
  }
  module_->KeepFunctions(keep);
  diag::Diagnostics diagnostics;
  ADC_CHECK(transform::Simplify(*module_, {}, diagnostics), "simplifying a verified module succeeds");
  module_->phase = ir::Phase::Scalar;
  for (ir::Scalar scalar : kScalars) {
    for (ir::Op op : kOps) functions_[PositionOf(op, scalar)] = module_->Find(NameOf(op, scalar));
  }
}

const MathFunctions& MathFunctions::Get() {
  static const MathFunctions functions;
  return functions;
}

const ir::Function* MathFunctions::Find(ir::Op op, ir::Scalar scalar) const {
  if (scalar != ir::Scalar::F32 && scalar != ir::Scalar::F64) return nullptr;
  return functions_[PositionOf(op, scalar)];
}

const ir::Function& MathFunctions::TurnedSine(ir::Scalar scalar) const {
  return *module_->Find(TurnedSineName(scalar));
}

}  // namespace adc::codegen

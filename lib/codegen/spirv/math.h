#pragma once
// Elementary functions: written in the IR (codegen/common/math_functions.h), they become functions of the
// module when something first calls them, and their arithmetic stays as written.

#include "codegen/spirv/scalars.h"
#include "ir/function.h"

namespace adc::codegen::spirv {

class MathLibrary final : public MathCalls {
 public:
  explicit MathLibrary(ModuleBuilder& module) : m_(module) {}

  /// In fast mode the device's own functions serve for f32, where it has them.
  Id FunctionFor(ir::Op op, ir::Scalar scalar, FloatMode mode) override;

 private:
  Id Make(const ir::Module& module, const ir::Function& function);
  Id MakeSine(ir::Scalar scalar, bool is_cosine);

  ModuleBuilder& m_;
  std::map<std::pair<ir::Op, ir::Scalar>, Id> made_;
  std::map<ir::Scalar, Id> turned_sines_;
};

}  // namespace adc::codegen::spirv

#include "codegen/spirv/values.h"

#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen::spirv {

Id ValueTable::Get(ir::Value v) {
  if (Id known = ids_.Get(v)) return known;
  const ir::ValueData& data = function_[v];
  Id made = 0;
  switch (data.kind) {
    case ir::ValueKind::Constant:
      made = scalars_.Constant(data.type.scalar, function_.ConstantOf(v).bits);
      break;
    case ir::ValueKind::Global:
      made = scalars_.Constant(data.type.scalar, module_.constants[data.owner].elements[0]);
      break;
    case ir::ValueKind::BlockParam:
      ADC_CHECK(environment_ != nullptr, "a parameter that nobody has bound");
      made = environment_->ParameterComponent(data.number, 0);
      break;
    case ir::ValueKind::Result:
      ADC_UNREACHABLE("a value is used before it is emitted");
  }
  ids_.Set(v) = made;
  return made;
}

Id ValueTable::Index(ir::Value v, uint32_t width) {
  return f_.Resize(Get(v), ir::BitWidth(function_.TypeOf(v).scalar), width, true);
}

Id ValueTable::Position(ir::Value v, uint32_t width) {
  return f_.Resize(Get(v), ir::BitWidth(function_.TypeOf(v).scalar), width, false);
}

}  // namespace adc::codegen::spirv

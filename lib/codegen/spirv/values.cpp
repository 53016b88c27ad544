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
      ADC_CHECK(environment_ != nullptr, "a parameter that is bound");
      made = environment_->words.ParameterComponent(data.number, 0);
      break;
    case ir::ValueKind::Result:
      if (ir::Inst inst = function_.DefiningInst(v); WidensAtUse(inst))
        return f_.Resize(Get(function_.Operand(inst, 0)), 32, 64, true);
      ADC_UNREACHABLE("a value is used before it is emitted");
  }
  ids_.Set(v) = made;
  return made;
}

std::vector<Id> ValueTable::GetAll(std::span<const ir::Value> values) {
  std::vector<Id> all;
  for (ir::Value v : values) all.push_back(Get(v));
  return all;
}

bool ValueTable::WidensAtUse(ir::Inst inst) const {
  return f_.module().IsForTranslators() && function_[inst].op == ir::Op::Cast &&
         function_.TypeOf(function_.Result(inst)) == ir::kI64 &&
         function_.TypeOf(function_.Operand(inst, 0)) == ir::kI32;
}

std::pair<Id, uint32_t> ValueTable::ElementIndex(ir::Value v) {
  std::optional<int64_t> known = function_.IntegerConstant(v);
  if (known && *known >= 0 && *known <= INT32_MAX) return {f_.Int(32, static_cast<uint64_t>(*known)), 32};
  ir::Inst inst = function_.DefiningInst(v);
  if (inst.Valid() && WidensAtUse(inst)) v = function_.Operand(inst, 0);
  return {Get(v), ir::BitWidth(function_.TypeOf(v).scalar)};
}

Id ValueTable::Index(ir::Value v, uint32_t width) {
  return f_.Resize(Get(v), ir::BitWidth(function_.TypeOf(v).scalar), width, true);
}

Id ValueTable::Position(ir::Value v, uint32_t width) {
  return f_.Resize(Get(v), ir::BitWidth(function_.TypeOf(v).scalar), width, false);
}

}  // namespace adc::codegen::spirv

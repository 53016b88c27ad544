#include "codegen/llvm/values.h"

#include "codegen/common/questions.h"
#include "ir/module.h"
#include "ir/words.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

Value* ValueTable::Get(ir::Value v) {
  if (Value* known = values_.Get(v)) return known;
  const ir::ValueData& data = kernel_[v];
  Value* made = nullptr;
  switch (data.kind) {
    case ir::ValueKind::Constant:
      made = scalars_.Constant(data.type.scalar, kernel_.ConstantOf(v).bits);
      break;
    case ir::ValueKind::Global:
      made = scalars_.Constant(data.type.scalar, module_.constants[data.owner].elements[0]);
      break;
    case ir::ValueKind::BlockParam:
      made = hooks_.ParameterComponent(data.number, 0);
      break;
    case ir::ValueKind::Result:
      ADC_UNREACHABLE("a value is used before it is emitted");
  }
  values_.Set(v) = made;
  return made;
}

llvm::SmallVector<Value*> ValueTable::GetAll(std::span<const ir::Value> values) {
  llvm::SmallVector<Value*> all;
  for (ir::Value v : values) all.push_back(Get(v));
  return all;
}

void ValueTable::BindCounter(ir::Value v, Value* wide) {
  wide_.Set(v) = wide;
  if (kernel_.TypeOf(v).Is(Scalar::I64)) {
    Bind(v, wide);
    return;
  }
  Value* narrow = builder_.CreateTrunc(wide, builder_.getInt32Ty(), "", false, true);
  Bind(v, narrow);
}

Value* ValueTable::Index(ir::Value v) {
  if (Value* known = wide_.Get(v)) return known;
  if (std::optional<int64_t> constant = kernel_.IntegerConstant(v))
    return builder_.getInt64(static_cast<uint64_t>(*constant));
  return builder_.CreateSExt(Get(v), builder_.getInt64Ty());
}

void ValueTable::EmitPure(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  ir::Value result = kernel_.Result(inst);
  ir::Type type = kernel_.TypeOf(result);
  if (wide_.Get(result) != nullptr) wide_.Set(result) = nullptr;  // of an emission before
  llvm::SmallVector<Value*> operands = GetAll(kernel_.Operands(inst));
  if (data.Has(ir::Word::NoWrap)) {
    ir::Value a = kernel_.Operand(inst, 0), b = kernel_.Operand(inst, 1);
    if (wide_.Get(a) != nullptr || wide_.Get(b) != nullptr)
      wide_.Set(result) = scalars_.Emit(data.op, Scalar::I64, Scalar::I64, {Index(a), Index(b)}, data.words);
  }
  Scalar from = OperandScalar(kernel_, inst);
  if (data.op == Op::Cast && type.Is(Scalar::I64) && from == Scalar::I32)
    return Bind(result, Index(kernel_.Operand(inst, 0)));
  Bind(result, scalars_.Emit(data.op, from, type.scalar, operands, data.words));
}

void ValueTable::EmitShape(ir::Inst inst) {
  ir::Value result = kernel_.Result(inst);
  Value* extent = hooks_.Extent(kernel_[kernel_.Operand(inst, 0)].number, kernel_[inst].attr);
  if (kernel_.TypeOf(result).Is(Scalar::I64)) {
    Bind(result, extent);
    return;
  }
  wide_.Set(result) = extent;
  Bind(result, builder_.CreateTrunc(extent, builder_.getInt32Ty(), "", true, true));
}

}  // namespace adc::codegen

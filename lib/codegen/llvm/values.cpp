#include "codegen/llvm/values.h"

#include <algorithm>

#include "support/check.h"

namespace adc::codegen {

using ir::Op;
using ir::Scalar;
using llvm::Value;

namespace {

/// The interval of an operation on i32 operands, before it is cut to the type; empty where nothing is known.
std::optional<Interval> IntervalOf(Op op, Interval a, Interval b) {
  if (op == Op::Add) return Interval{a.low + b.low, a.high + b.high};
  if (op == Op::Sub) return Interval{a.low - b.high, a.high - b.low};
  if (op == Op::Mul) {
    auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return Interval{low, high};
  }
  if (op == Op::Min) return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
  if (op == Op::Max) return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op == Op::Div && a.low >= 0 && b.low >= 1) return Interval{0, a.high};
  if ((op == Op::FloorDiv || op == Op::CeilDiv) && a.low >= 0 && b.low >= 1) return Interval{0, a.high};
  if ((op == Op::Rem && a.low >= 0 && b.low >= 1) || (op == Op::Mod && b.low >= 1))
    return Interval{0, b.high - 1};
  if (op == Op::And && b.low >= 0) return Interval{0, b.high};
  if (op == Op::And && a.low >= 0) return Interval{0, a.high};
  return std::nullopt;
}

bool Fits(Interval i) {
  return i.low >= INT32_MIN && i.high <= INT32_MAX;
}

}  // namespace

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

void ValueTable::BindCounter(ir::Value v, Value* wide, Interval interval) {
  wide_.Set(v) = wide;
  if (kernel_.TypeOf(v).Is(Scalar::I64)) {
    Bind(v, wide);
    return;
  }
  Value* narrow = builder_.CreateTrunc(wide, builder_.getInt32Ty(), "", false, true);
  Bind(v, narrow);
  bounds_.Set(v) = interval;
}

Value* ValueTable::Index(ir::Value v) {
  if (Value* known = wide_.Get(v)) return known;
  if (std::optional<int64_t> constant = kernel_.IntegerConstant(v))
    return builder_.getInt64(static_cast<uint64_t>(*constant));
  return builder_.CreateSExt(Get(v), builder_.getInt64Ty());
}

Interval ValueTable::Bounds(ir::Value v) const {
  if (std::optional<int64_t> constant = kernel_.IntegerConstant(v)) return {*constant, *constant};
  return bounds_.Get(v);
}

void ValueTable::EmitPure(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  ir::Value result = kernel_.Result(inst);
  ir::Type type = kernel_.TypeOf(result);
  if (wide_.Get(result) != nullptr) wide_.Set(result) = nullptr;  // of an emission before
  llvm::SmallVector<Value*, 4> operands;
  for (ir::Value v : kernel_.Operands(inst)) operands.push_back(Get(v));
  ir::Value typed = kernel_.Operand(inst, data.op == Op::Select ? 1 : 0);
  bool no_wrap = false;
  if (type.Is(Scalar::I32) && operands.size() == 2 && kernel_.TypeOf(typed).Is(Scalar::I32)) {
    ir::Value a = kernel_.Operand(inst, 0), b = kernel_.Operand(inst, 1);
    std::optional<Interval> interval = IntervalOf(data.op, Bounds(a), Bounds(b));
    if (interval && Fits(*interval)) {
      bounds_.Set(result) = *interval;
      no_wrap = data.op == Op::Add || data.op == Op::Sub || data.op == Op::Mul;
      bool counted = wide_.Get(a) != nullptr || wide_.Get(b) != nullptr;
      if (no_wrap && counted)
        wide_.Set(result) = scalars_.Emit(data.op, Scalar::I64, Scalar::I64, {Index(a), Index(b)}, true);
    }
  }
  if (data.op == Op::Cast && type.Is(Scalar::I64) && kernel_.TypeOf(typed).Is(Scalar::I32)) {
    Bind(result, Index(typed));
    return;
  }
  Bind(result, scalars_.Emit(data.op, kernel_.TypeOf(typed).scalar, type.scalar, operands, no_wrap));
}

void ValueTable::EmitShape(ir::Inst inst) {
  ir::Value result = kernel_.Result(inst);
  Value* extent = hooks_.Extent(kernel_[kernel_.Operand(inst, 0)].number, kernel_[inst].attr);
  if (kernel_.TypeOf(result).Is(Scalar::I64)) {
    Bind(result, extent);
    return;
  }
  wide_.Set(result) = extent;
  bounds_.Set(result) = {0, INT32_MAX};
  Bind(result, builder_.CreateTrunc(extent, builder_.getInt32Ty(), "", true, true));
}

}  // namespace adc::codegen

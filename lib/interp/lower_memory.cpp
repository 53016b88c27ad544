#include "interp/control.h"
#include "interp/lower.h"
#include "interp/memory.h"
#include "interp/origins.h"
#include "interp/workgroup.h"
#include "ir/module.h"
#include "ir/op_sets.h"
#include "support/check.h"

namespace adc::interp {

using ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

void FunctionLowering::LowerAccess(Inst inst) {
  const InstData& data = function_[inst];
  Value base = function_.Operand(inst, 0);
  Type base_type = function_.TypeOf(base);
  Type element = module_.ElementType(function_, base, data.attr);
  AccessInfo access;
  access.op = data.op;
  access.scalar = element.scalar;
  access.base = CellOf(base);
  access.components = element.Components();
  access.count = access.components;
  if (data.component != ir::kNoAttr) {
    access.first = data.component;
    access.count = 1;
  }
  for (Value index : function_.Indices(inst)) access.index_cells[access.index_count++] = CellOf(index);
  std::string_view name = function_[base].kind == ir::ValueKind::Global
                              ? module_.Text(module_.constants[function_[base].owner].name)
                              : module_.Text(function_[base].name);
  access.base_name = name.empty() ? "an array" : "'" + std::string(name) + "'";
  Place place = Place::Bytes;
  if (base_type.IsArray()) {
    place = Place::Cells;
    access.length = base_type.count;
  } else {
    if (base_type.IsLayout()) access.field = &module_.layouts[base_type.count].fields[data.attr];
    if (options_.promote_floats && element.IsFloat()) place = Place::Wide;
  }
  std::span<const Value> values = function_.AccessValues(inst);
  uint32_t info = AddRow(program_.accesses, std::move(access));
  uint32_t result = data.result_count != 0 ? CellOf(function_.Result(inst)) : 0;
  uint32_t value = values.empty() ? 0 : CellOf(values[0]),
           desired = values.size() > 1 ? CellOf(values[1]) : 0;
  bool watched = options_.origins && element.IsFloat();
  if (watched) Emit(RememberStep(element.scalar, place), 0, 0, 0, 0, info);
  Emit(AccessStep(data.op, Register(element.scalar), place), result, value, desired, 0, info);
  if (watched) Emit(WatchAccessStep(element.scalar, place), result, value, desired, 0, info);
}

void FunctionLowering::LowerAlloca(Inst inst) {
  Type type = function_.TypeOf(function_.Result(inst));
  uint32_t count = type.count * type.Components();
  uint32_t first = NewCells(count);
  if (function_[inst].Has(ir::Word::Shared)) {
    Emit(SharedAllocaStep, CellOf(function_.Result(inst)), first, count);
    program_.parallels.back().shared.push_back({first, count});
    return;
  }
  Emit(AllocaStep, CellOf(function_.Result(inst)), first, count);
  if (options_.origins) Emit(WatchClearStep, 0, first, count);
}

void FunctionLowering::LowerShape(Inst inst) {
  Value base = function_.Operand(inst, 0), result = function_.Result(inst);
  Type type = function_.TypeOf(base);
  if (type.IsBuffer()) {
    Emit(ShapeStep, CellOf(result), CellOf(base), function_[inst].attr,
         function_.TypeOf(result).Is(ir::Scalar::I32) ? 1 : 0);
  } else {
    const ir::LayoutField& field = module_.layouts[type.count].fields[function_[inst].component];
    Alias(result, ConstantCell(field.axes[function_[inst].attr].extent));
  }
}

void FunctionLowering::LowerStack(Inst inst) {
  const InstData& data = function_[inst];
  std::span<const Value> operands = function_.Operands(inst);
  bool slot = data.Has(ir::Word::HasSlot);
  auto read = [&](Step step, bool taken) {
    uint32_t result = CellOf(function_.Result(inst)), stack = CellOf(operands[0]);
    uint32_t at = slot ? CellOf(operands[1]) : 0;
    Emit(step, result, stack, 0, at);
    if (options_.origins) Emit(WatchStackReadStep(slot, taken), result, stack, 0, at);
  };
  switch (ir::In<ir::StackOp>(data.op)) {
    case ir::StackOp::StackNew:
      Emit(StackNewStep, CellOf(function_.Result(inst)), AddRow(program_.stacks, {function_.name, inst}));
      return;
    case ir::StackOp::StackPush:
      Emit(StackPushStep(slot), 0, CellOf(operands[0]), CellOf(operands[1]), slot ? CellOf(operands[2]) : 0);
      if (!options_.origins) return;
      Emit(WatchPushStep(slot), 0, CellOf(operands[0]), CellOf(operands[1]), slot ? CellOf(operands[2]) : 0);
      return;
    case ir::StackOp::StackPop:
      return read(StackPopStep(slot), true);
    case ir::StackOp::StackTop:
      return read(StackTopStep(slot), false);
    case ir::StackOp::Other:
      break;
  }
  ADC_UNREACHABLE("operation of stacks");
}

void FunctionLowering::LowerRow(Inst inst) {
  if (options_.origins) return Unsupported("where a value in a row comes from: adstacks are lowered here");
  const InstData& data = function_[inst];
  RowInfo row;
  row.task = task_;
  row.number = data.attr;
  auto info = static_cast<uint32_t>(program_.rows.size());
  if (data.op == Op::RowLoad || data.op == Op::RowStore) {
    // The group is that of the claim which gave the row.
    Inst claim = function_.DefiningInst(function_.Operand(inst, 0));
    if (!claim.Valid() || function_[claim].op != Op::RowClaim)
      return Unsupported("an access to a row that no row.claim gave");
    row.number = function_[claim].attr;
    row.stack = data.attr;
    bool store = data.op == Op::RowStore;
    Type type = function_.TypeOf(store ? function_.Operand(inst, 2) : function_.Result(inst));
    row.bytes = ir::ByteSize(type.scalar);
    Emit(RowStep(data.op), store ? 0 : CellOf(function_.Result(inst)), CellOf(function_.Operand(inst, 1)),
         store ? CellOf(function_.Operand(inst, 2)) : 0, 0, info);
  } else {
    Emit(RowStep(data.op), CellOf(function_.Result(inst)), 0, 0, 0, info);
  }
  program_.rows.push_back(row);
}

}  // namespace adc::interp

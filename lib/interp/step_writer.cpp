#include "interp/step_writer.h"

#include "interp/arithmetic.h"
#include "interp/control.h"
#include "interp/memory.h"
#include "interp/origins.h"
#include "ir/module.h"
#include "ir/number.h"
#include "ir/scalar_math.h"
#include "support/check.h"

namespace adc::interp {

using ir::Inst, ir::Op, ir::Scalar, ir::Type, ir::Value;

namespace {
constexpr uint32_t kNoCell = UINT32_MAX;
}

StepWriter::StepWriter(const ir::Module& module, const ir::Function& function, const LowerOptions& options,
                       Program& program)
    : module_(module), function_(function), options_(options), program_(program) {
  code_.function = &function;
  code_.cell_of.assign(function.ValueCount(), kNoCell);
}

FunctionCode StepWriter::TakeCode() {
  if (!options_.origins) code_.cell_of = {};
  return std::move(code_);
}

StepWriter::Origin StepWriter::Enter(Inst inst) {
  Origin outer = origin_;
  origin_.inst = inst;
  if (function_[inst].span.Valid()) origin_.span = function_[inst].span;
  return outer;
}

size_t StepWriter::Emit(Step step, uint32_t dst, uint32_t a, uint32_t b, uint32_t c, uint32_t info) {
  ADC_CHECK(step != nullptr, "no step for an operation of this type");
  code_.code.push_back({step, dst, a, b, c, 0, info});
  code_.spans.push_back(origin_.span);
  if (options_.origins) code_.insts.push_back(origin_.inst);
  return code_.code.size() - 1;
}

void StepWriter::JumpTo(size_t from, size_t target) {
  code_.code[from].jump = static_cast<int32_t>(static_cast<int64_t>(target) - static_cast<int64_t>(from));
}

uint32_t StepWriter::NewCells(uint32_t count) {
  uint32_t first = code_.cells;
  code_.cells += count;
  return first;
}

uint32_t StepWriter::CellOf(Value value) {
  uint32_t& cell = code_.cell_of[value.raw];
  if (cell != kNoCell) return cell;
  const ir::ValueData& data = function_[value];
  if (data.kind == ir::ValueKind::Constant) {
    const ir::ConstantData& constant = function_.ConstantOf(value);
    return cell = ConstantCell(RegisterBits(constant.type.scalar, constant.bits));
  }
  if (data.kind == ir::ValueKind::Global) {
    const ir::ModuleConstant& constant = module_.constants[data.owner];
    if (!constant.type.IsArray())
      return cell = ConstantCell(RegisterBits(constant.type.scalar, constant.elements[0]));
    uint64_t first = program_.array_constants.size();
    for (uint64_t bits : constant.elements)
      program_.array_constants.push_back(RegisterBits(constant.type.scalar, bits));
    return cell = ConstantCell(first);
  }
  return cell = NewCells(CellCount(data.type));
}

uint32_t StepWriter::ConstantCell(uint64_t bits) {
  auto [found, fresh] = constant_cells_.try_emplace(bits, 0);
  if (fresh) {
    found->second = NewCells(1);
    code_.constants.emplace_back(found->second, bits);
  }
  return found->second;
}

uint32_t StepWriter::CellCount(Type type) const {
  return type.IsRegister() ? type.Components() : 1;
}

void StepWriter::Alias(Value value, uint32_t first_cell) {
  code_.cell_of[value.raw] = first_cell;
}

Scalar StepWriter::Register(Scalar scalar) const {
  return options_.promote_floats && ir::IsFloat(scalar) ? Scalar::F64 : scalar;
}

uint64_t StepWriter::RegisterBits(Scalar scalar, uint64_t bits) const {
  return IsPromoted(scalar) ? ir::ToBits(ir::FloatFromBits(scalar, bits)) : bits;
}

std::vector<uint32_t> StepWriter::CellsOf(Value value) {
  std::vector<uint32_t> cells;
  for (uint32_t k = 0; k < CellCount(function_.TypeOf(value)); ++k) cells.push_back(CellOf(value) + k);
  return cells;
}

void StepWriter::EmitArithmetic(Op op, const WatchInfo& types, uint32_t dst, uint32_t a, uint32_t b,
                                uint32_t c) {
  Emit(ArithmeticStep(op, Register(types.operand), options_.dual), dst, a, b, c);
  EmitWatch(types, dst, a, b, c);
}

void StepWriter::EmitCast(Scalar from, Scalar to, uint32_t dst, uint32_t a) {
  Emit(CastStep(Register(from), Register(to), options_.dual), dst, a);
  EmitWatch({from, to, 1}, dst, a);
}

void StepWriter::EmitMove(uint32_t dst, uint32_t a) {
  Emit(MoveStep(options_.dual), dst, a);
  if (options_.origins) Emit(WatchMoveStep, dst, a);
}

void StepWriter::EmitPick(uint32_t dst, uint32_t a, uint32_t index, uint32_t count) {
  Emit(PickStep, dst, a, index, count);
  if (options_.origins) Emit(WatchPickStep, dst, a, index, count);
}

void StepWriter::EmitWatch(const WatchInfo& info, uint32_t dst, uint32_t a, uint32_t b, uint32_t c) {
  if (!options_.origins || !ir::IsFloat(info.result)) return;
  Emit(WatchValueStep, dst, a, b, c, AddRow(program_.watched, info));
}

void StepWriter::Unsupported(std::string text) {
  Emit(UnsupportedStep, 0, 0, 0, 0, AddRow(program_.texts, std::move(text)));
}

}  // namespace adc::interp

#include "frontend/spirv/arithmetic.h"

#include "frontend/spirv/bits.h"
#include "frontend/spirv/operation_rows.h"

namespace adc::frontend::spirv {

using ir::Op;

ir::Value Arithmetic::MakeRow(const Row& row, const Instruction& inst, size_t first) {
  bool is_unsigned =
      row.form == Form::Unsigned || row.form == Form::UnsignedSwapped || row.form == Form::UnsignedConvert;
  std::vector<ir::Value> operands;
  for (size_t n = first; n < inst.operands.size(); ++n) {
    ir::Value operand = GetOne(inst.At(n));
    operands.push_back(is_unsigned ? b_.Unsigned(operand) : operand);
  }
  if (row.form == Form::Convert || row.form == Form::UnsignedConvert)
    return b_.Cast(operands[0], types_.Register(inst.type));
  if (row.form == Form::Swapped || row.form == Form::UnsignedSwapped) std::swap(operands[0], operands[1]);
  // Integers have one type here but where SPIR-V mixes signs and widths.
  for (ir::Value& operand : operands) {
    if (!kernel_.TypeOf(operand).IsFloat()) operand = b_.Cast(operand, kernel_.TypeOf(operands[0]));
  }
  ir::Value made = b_.Make(row.to, operands);
  if (row.form == Form::Negated) made = b_.Make(Op::Not, {made});
  return b_.Cast(made, types_.Register(inst.type));
}

// Two results: the lower bits, and what does not fit there.
Value Arithmetic::WithHighBits(const Instruction& inst) {
  ir::Value left = GetOne(inst.At(0)), right = GetOne(inst.At(1));
  ir::Type type = kernel_.TypeOf(left);
  auto make = [&](Op op, ir::Value a, ir::Value b) { return b_.Make(op, {a, b}); };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpIAddCarry: {
      ir::Value sum = make(Op::Add, left, right);
      return {{sum, b_.Cast(make(Op::Lt, b_.Unsigned(sum), b_.Unsigned(left)), type)}};
    }
    case spv::OpISubBorrow: {
      ir::Value borrow = make(Op::Lt, b_.Unsigned(left), b_.Unsigned(right));
      return {{make(Op::Sub, left, right), b_.Cast(borrow, type)}};
    }
    default: {
      ir::Value low = make(Op::Mul, left, right);
      if (inst.op == spv::OpSMulExtended) return {{low, make(Op::MulHi, left, right)}};
      return {{low, b_.Cast(make(Op::MulHi, b_.Unsigned(left), b_.Unsigned(right)), type)}};
    }
  }
}

std::optional<Value> Arithmetic::Number(const Instruction& inst) {
  if (const Row* row = RowOf(inst.op)) return Value{{MakeRow(*row, inst, 0)}};
  auto a = [&] { return GetOne(inst.At(0)); };
  auto b = [&] { return GetOne(inst.At(1)); };
  auto type = [&] { return types_.Register(inst.type); };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpIAddCarry:
    case spv::OpISubBorrow:
    case spv::OpUMulExtended:
    case spv::OpSMulExtended:
      return WithHighBits(inst);
    case spv::OpBitFieldSExtract:
    case spv::OpBitFieldUExtract: {
      ir::Value base = a(), offset = b(), count = GetOne(inst.At(2));
      return Value{{BitField(b_, base, offset, count, inst.op == spv::OpBitFieldSExtract)}};
    }
    case spv::OpBitFieldInsert: {
      ir::Value base = a(), what = b(), offset = GetOne(inst.At(2)), count = GetOne(inst.At(3));
      return Value{{WithBitField(b_, base, what, offset, count)}};
    }
    case spv::OpFOrdNotEqual:
    case spv::OpFUnordEqual: {
      ir::Value left = a(), right = b();
      ir::Value apart = b_.Make(Op::Or, {b_.Make(Op::Lt, {left, right}), b_.Make(Op::Gt, {left, right})});
      return Value{{inst.op == spv::OpFOrdNotEqual ? apart : b_.Make(Op::Not, {apart})}};
    }
    case spv::OpAny:
    case spv::OpAll: {
      ir::Value vector = a(), result = b_.ComponentOf(vector, 0);
      for (uint32_t n = 1; n < kernel_.TypeOf(vector).Components(); ++n)
        result = b_.Make(inst.op == spv::OpAny ? Op::Or : Op::And, {result, b_.ComponentOf(vector, n)});
      return Value{{result}};
    }
    case spv::OpSelect: {
      ir::Value condition = a();
      Value first = Get(inst.At(1)), second = Get(inst.At(2));
      Require(first.parts.size() == second.parts.size(), inst, "a selection of two types");
      Value result;
      for (size_t n = 0; n < first.parts.size(); ++n)
        result.parts.push_back(b_.Make(Op::Select, {condition, first.parts[n], second.parts[n]}));
      return result;
    }
    case spv::OpConvertFToU:
      return Value{{b_.Cast(b_.Cast(a(), IntegersLike(type(), false)), type())}};
    case spv::OpBitcast:
      return Value{{BitsAs(b_, a(), type(), inst.span)}};
    case spv::OpVectorExtractDynamic:
      return Value{{b_.Make(Op::VecGet, {a(), b_.Cast(b(), ir::kI32)})}};
    case spv::OpVectorInsertDynamic:
      return Value{{b_.Make(Op::VecSet, {a(), b_.Cast(GetOne(inst.At(2)), ir::kI32), b()})}};
    default:
      return std::nullopt;
  }
}

}  // namespace adc::frontend::spirv

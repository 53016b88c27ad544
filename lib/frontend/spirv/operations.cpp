// Operations on values, one by one.

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"
#include "frontend/spirv/operation_rows.h"

namespace adc::frontend::spirv {

using ir::Op;

ir::Value Lowering::Unsigned(ir::Value value) {
  ir::Type type = kernel_->TypeOf(value);
  if (!ir::IsSigned(type.scalar)) return value;
  auto same = static_cast<ir::Scalar>(static_cast<uint8_t>(type.scalar) + 4);
  return b_->Cast(value, type.WithScalar(same));
}

ir::Value Lowering::Splat(ir::Value scalar, ir::Type like) {
  if (like.IsScalar()) return scalar;
  std::vector<ir::Value> parts(like.Components(), scalar);
  return kernel_->Result(b_->Create(like.IsVec() ? Op::VecMake : Op::MatMake, parts, {&like, 1}));
}

ir::Value Lowering::FloatLike(ir::Value like, double value) {
  ir::Type type = kernel_->TypeOf(like);
  return Splat(b_->Float(type.ScalarType(), value), type);
}

ir::Value Lowering::MakeRow(const Row& row, const Instruction& inst, size_t first) {
  bool is_unsigned =
      row.form == Form::Unsigned || row.form == Form::UnsignedSwapped || row.form == Form::UnsignedConvert;
  std::vector<ir::Value> operands;
  for (size_t n = first; n < inst.operands.size(); ++n) {
    ir::Value operand = GetOne(inst.At(n));
    operands.push_back(is_unsigned ? Unsigned(operand) : operand);
  }
  if (row.form == Form::Convert || row.form == Form::UnsignedConvert)
    return b_->Cast(operands[0], types_.Register(inst.type));
  if (row.form == Form::Swapped || row.form == Form::UnsignedSwapped) std::swap(operands[0], operands[1]);
  // Integers have one type here but where SPIR-V mixes signs and widths.
  for (ir::Value& operand : operands) {
    if (!kernel_->TypeOf(operand).IsFloat()) operand = b_->Cast(operand, kernel_->TypeOf(operands[0]));
  }
  ir::Value made = b_->Make(row.to, operands);
  if (row.form == Form::Negated) return b_->Make(Op::Not, {made});
  return is_unsigned ? b_->Cast(made, types_.Register(inst.type)) : made;
}

/// False where the operation is none of arithmetic.
bool Lowering::Arithmetic(const Instruction& inst) {
  if (const Row* row = RowOf(inst.op)) {
    SetOne(inst, MakeRow(*row, inst, 0));
    return true;
  }
  auto a = [&] { return GetOne(inst.At(0)); };
  auto b = [&] { return GetOne(inst.At(1)); };
  auto type = [&] { return types_.Register(inst.type); };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpIAddCarry:
    case spv::OpISubBorrow:
    case spv::OpUMulExtended:
    case spv::OpSMulExtended:
      Set(inst, WithHighBits(inst));
      return true;
    case spv::OpBitCount:
      SetOne(inst, b_->Cast(b_->Make(Op::Popcount, {a()}), type()));
      return true;
    case spv::OpBitFieldSExtract:
    case spv::OpBitFieldUExtract:
      SetOne(inst, BitField(inst));
      return true;
    case spv::OpBitFieldInsert:
      SetOne(inst, WithBitField(inst));
      return true;
    case spv::OpFOrdNotEqual:
    case spv::OpFUnordEqual: {
      ir::Value left = a(), right = b();
      ir::Value apart = b_->Make(Op::Or, {b_->Make(Op::Lt, {left, right}), b_->Make(Op::Gt, {left, right})});
      SetOne(inst, inst.op == spv::OpFOrdNotEqual ? apart : b_->Make(Op::Not, {apart}));
      return true;
    }
    case spv::OpAny:
    case spv::OpAll: {
      ir::Value vector = a(), result = ComponentOf(vector, 0);
      for (uint32_t n = 1; n < kernel_->TypeOf(vector).Components(); ++n)
        result = b_->Make(inst.op == spv::OpAny ? Op::Or : Op::And, {result, ComponentOf(vector, n)});
      SetOne(inst, result);
      return true;
    }
    case spv::OpSelect: {
      ir::Value condition = a();
      Value first = Get(inst.At(1)), second = Get(inst.At(2));
      Require(first.parts.size() == second.parts.size(), inst, "a selection of two types");
      Value result;
      for (size_t n = 0; n < first.parts.size(); ++n)
        result.parts.push_back(b_->Make(Op::Select, {condition, first.parts[n], second.parts[n]}));
      Set(inst, std::move(result));
      return true;
    }
    case spv::OpConvertFToU: {
      ir::Type to = type();
      auto same = static_cast<ir::Scalar>(static_cast<uint8_t>(to.scalar) + 4);
      SetOne(inst, b_->Cast(b_->Cast(a(), to.WithScalar(same)), to));
      return true;
    }
    case spv::OpBitcast:
      SetOne(inst, BitsAs(a(), type(), inst));
      return true;
    case spv::OpVectorExtractDynamic:
      SetOne(inst, b_->Make(Op::VecGet, {a(), b_->Cast(b(), ir::kI32)}));
      return true;
    case spv::OpVectorInsertDynamic:
      SetOne(inst, b_->Make(Op::VecSet, {a(), b_->Cast(GetOne(inst.At(2)), ir::kI32), b()}));
      return true;
    default:
      return false;
  }
}

void Lowering::Emit(const Instruction& inst) {
  b_->SetSpan(inst.span);
  Spend(1, inst);
  if (address_parts_.count(inst.result) != 0) return;
  if (addresses_.count(inst.result) != 0) {
    MakePointer(inst);
    return;
  }
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpVariable:
      MakeLocal(inst);
      return;
    case spv::OpLoad: {
      uint32_t memory = inst.operands.size() > 1 ? inst.At(1) : 0;
      if ((memory & spv::MemoryAccessVolatileMask) != 0)
        Refuse(diag::E0856, inst.span, "a volatile read sees what others write while the kernel runs",
               "kernels do not wait for each other: dispatch twice");
      if (!LoadHandle(inst)) Set(inst, Load(GetPointer(inst.At(0), inst), inst));
      return;
    }
    case spv::OpStore: {
      uint32_t memory = inst.operands.size() > 2 ? inst.At(2) : 0;
      if ((memory & spv::MemoryAccessVolatileMask) != 0)
        Refuse(diag::E0856, inst.span, "a volatile write means something to those that wait for it",
               "kernels do not wait for each other: dispatch twice");
      Pointer to = GetPointer(inst.At(0), inst);
      bool to_table = to.kind == Pointer::Kind::Local && to.local->leaves[to.leaf].is_table;
      if (!to_table) Store(to, Get(inst.At(1)), inst);
      return;
    }
    case spv::OpCopyMemory: {
      Pointer from = GetPointer(inst.At(1), inst), to = GetPointer(inst.At(0), inst);
      Store(to, Load(from, inst), inst);
      return;
    }
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
      AccessChain(inst);
      return;
    case spv::OpArrayLength:
      ArrayLength(inst);
      return;
    case spv::OpCopyObject:
    case spv::OpCopyLogical: {
      if (types_.KindOf(inst.type) == spv::OpTypePointer && !types_.IsAddress(inst.type)) {
        frame().pointers[inst.result] = GetPointer(inst.At(0), inst);
        return;
      }
      Set(inst, Get(inst.At(0)));
      return;
    }
    case spv::OpUndef:
      Set(inst, ZeroOf(inst.type));
      return;
    case spv::OpExtInst:
      Extended(inst);
      return;
    case spv::OpFunctionCall: {
      Value result = Call(inst);
      if (!result.parts.empty()) Set(inst, std::move(result));
      return;
    }
    case spv::OpControlBarrier:
      if (by_workgroups_) b_->Create(ir::Op::Barrier, {}, {});
      return;
    case spv::OpMemoryBarrier:
      return;  // CheckOrder has seen that it has no meaning here, or a barrier gives it one
    default:
      break;
  }
  if (Composite(inst) || Atomic(inst) || ImageOperation(inst) || SubgroupOperation(inst)) return;
  bool pointer = inst.type != 0 && types_.KindOf(inst.type) == spv::OpTypePointer;
  if (pointer)
    Refuse(diag::E0854, inst.span, "a pointer that is computed or chosen at run time",
           "index one buffer, or branch on what chooses");
  if (!Arithmetic(inst)) RefuseOperation(inst);
}

void Lowering::RefuseOperation(const Instruction& inst) {
  auto opcode = static_cast<uint32_t>(inst.op);
  std::string what = "operation " + std::to_string(opcode) + " of SPIR-V";
  std::string remedy = "docs/shaders.md lists what is taken";
  if (opcode >= spv::OpSampledImage && opcode <= spv::OpImageQuerySamples) {
    what = "this operation on an image";
    remedy = "docs/shaders.md lists what is taken of images";
  } else if (opcode >= spv::OpGroupAll && opcode <= spv::OpGroupSMax) {
    what = "an operation of a workgroup";
  } else if (opcode >= spv::OpGroupNonUniformElect && opcode <= spv::OpGroupNonUniformQuadSwap) {
    what = "an operation of a subgroup";
    remedy = "docs/shaders.md lists the operations of subgroups that are taken";
  } else if (opcode >= spv::OpDPdx && opcode <= spv::OpFwidthCoarse) {
    what = "a derivative between neighbouring fragments";
  }
  Refuse(diag::E0854, inst.span, what + " has no counterpart in a kernel", remedy);
}

}  // namespace adc::frontend::spirv

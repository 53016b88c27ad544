#include "frontend/spirv/types.h"

#include <algorithm>
#include <bit>

#include "diag/errors/shader.h"
#include "diag/result.h"
#include "ir/number.h"

namespace adc::frontend::spirv {

namespace {
constexpr uint64_t kMostLeaves = 4096;
}

void Refuse(diag::ErrorId id, diag::SourceSpan span, std::string text, std::string help) {
  throw Refused{diag::Fail(id, span, std::move(text), std::move(help))};
}

const Instruction& Types::Of(Id type) const {
  const Instruction* inst = binary_.Find(type);
  if (inst == nullptr) Refuse(diag::E0852, {}, "the module names a type that it does not define");
  return *inst;
}

bool Types::IsRegister(Id type) const {
  switch (static_cast<uint32_t>(KindOf(type))) {
    case spv::OpTypeBool:
    case spv::OpTypeInt:
    case spv::OpTypeFloat:
    case spv::OpTypeVector:
    case spv::OpTypeMatrix:
      return true;
    default:
      return false;
  }
}

ir::Type Types::Register(Id type) const {
  const Instruction& inst = Of(type);
  uint32_t width = inst.At(0);
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpTypeBool:
      return ir::kI1;
    case spv::OpTypeInt:
      if (width >= 8 && width <= 64 && std::has_single_bit(width))
        return ir::Type::Of(ir::IntegerOf(width, true));
      break;
    case spv::OpTypeFloat:
      if (width == 16) return ir::Type::Of(ir::Scalar::F16);
      if (width == 32) return ir::kF32;
      if (width == 64) return ir::kF64;
      break;
    case spv::OpTypeVector:
      return ir::Type::Vec(Register(inst.At(0)).scalar, inst.At(1));
    case spv::OpTypeMatrix: {
      ir::Type column = Register(inst.At(0));
      return ir::Type::Mat(column.scalar, column.rows, inst.At(1));
    }
    default:
      break;
  }
  Refuse(diag::E0853, inst.span, "the shader uses values of a type that kernels do not have",
         "use numbers of 8 to 64 bits, vectors, matrices, arrays and structures of them");
}

ir::Scalar Types::MemoryScalar(Id type) const {
  const Instruction* inst = &Of(type);
  while (inst->op == spv::OpTypeVector || inst->op == spv::OpTypeMatrix) inst = &Of(inst->At(0));
  ir::Scalar scalar = Register(type).scalar;
  bool is_unsigned = inst->op == spv::OpTypeInt && inst->At(1) == 0;
  return is_unsigned ? ir::IntegerOf(ir::BitWidth(scalar), false) : scalar;
}

Id Types::Element(Id type) const {
  const Instruction& inst = Of(type);
  return inst.op == spv::OpTypePointer ? inst.At(1) : inst.At(0);
}

Id Types::Member(Id structure, uint32_t member) const {
  const Instruction& inst = Of(structure);
  if (inst.op != spv::OpTypeStruct || member >= inst.operands.size())
    Refuse(diag::E0852, inst.span, "the module names a member that a structure does not have");
  return inst.At(member);
}

uint32_t Types::Count(Id composite) const {
  const Instruction& inst = Of(composite);
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpTypeVector:
    case spv::OpTypeMatrix:
      return inst.At(1);
    case spv::OpTypeStruct:
      return Members(composite);
    case spv::OpTypeArray: {
      std::optional<int64_t> length = Integer(inst.At(1));
      if (!length || *length < 1 || *length > INT32_MAX)
        Refuse(diag::E0853, inst.span, "the length of an array is no constant from 1 to 2147483647");
      return static_cast<uint32_t>(*length);
    }
    default:
      Refuse(diag::E0853, inst.span, "a value of this type has no parts that a kernel can name");
  }
}

Id Types::Part(Id composite, uint32_t n) const {
  return KindOf(composite) == spv::OpTypeStruct ? Member(composite, n) : Element(composite);
}

uint64_t Types::CountLeaves(Id type, uint32_t depth) const {
  if (depth > kDeepest) Refuse(diag::E0853, Of(type).span, "types nest deeper than 64 levels");
  if (IsRegister(type) || IsAddress(type)) return 1;
  const Instruction& inst = Of(type);
  if (inst.op == spv::OpTypeArray) {
    uint64_t each = CountLeaves(inst.At(0), depth + 1);
    uint64_t count = Count(type);
    return count > kMostLeaves ? kMostLeaves + 1 : count * each;
  }
  if (inst.op == spv::OpTypeStruct) {
    uint64_t sum = 0;
    for (uint32_t n = 0; n < Members(type) && sum <= kMostLeaves; ++n)
      sum += CountLeaves(Member(type, n), depth + 1);
    return sum;
  }
  Refuse(diag::E0853, inst.span, "the shader uses values of a type that kernels do not have",
         "use numbers of 8 to 64 bits, vectors, matrices, arrays and structures of them");
}

uint32_t Types::LeafCount(Id type) const {
  uint64_t count = CountLeaves(type, 0);
  if (count > kMostLeaves)
    Refuse(diag::E0853, Of(type).span,
           "a value of more than " + std::to_string(kMostLeaves) + " numbers is moved as a whole",
           "access its elements one by one");
  return static_cast<uint32_t>(count);
}

void Types::Leaves(Id type, std::vector<ir::Type>& leaves) const {
  if (IsRegister(type)) {
    leaves.push_back(Register(type));
    return;
  }
  if (IsAddress(type)) {
    leaves.push_back(ir::kI64);
    return;
  }
  LeafCount(type);
  for (uint32_t n = 0; n < Count(type); ++n) Leaves(Part(type, n), leaves);
}

uint32_t Types::ArrayStride(Id array) const {
  int64_t stride = binary_.Decorated(array, spv::DecorationArrayStride);
  if (stride <= 0) Refuse(diag::E0853, Of(array).span, "an array in a block has no stride");
  return static_cast<uint32_t>(stride);
}

MemberPlace Types::PlaceOf(Id structure, uint32_t member) const {
  auto decorated = [&](spv::Decoration kind) { return binary_.MemberDecorated(structure, member, kind); };
  return {static_cast<uint64_t>(std::max<int64_t>(0, decorated(spv::DecorationOffset))),
          static_cast<uint32_t>(std::max<int64_t>(0, decorated(spv::DecorationMatrixStride))),
          decorated(spv::DecorationRowMajor) >= 0};
}

std::optional<int64_t> Types::Integer(Id constant, uint32_t depth) const {
  const Instruction* inst = binary_.Find(constant);
  if (inst == nullptr || depth > kDeepest) return std::nullopt;
  std::optional<uint64_t> given = SpecBits(constant);
  switch (static_cast<uint32_t>(inst->op)) {
    case spv::OpConstantTrue:
      return 1;
    case spv::OpConstantFalse:
    case spv::OpConstantNull:
      return 0;
    case spv::OpSpecConstantTrue:
    case spv::OpSpecConstantFalse:
      return static_cast<int64_t>(given.value_or(inst->op == spv::OpSpecConstantTrue ? 1 : 0));
    case spv::OpConstant:
    case spv::OpSpecConstant: {
      const Instruction* type = binary_.Find(inst->type);
      if (type == nullptr || type->op != spv::OpTypeInt) return std::nullopt;
      uint32_t width = type->At(0);
      if (!std::has_single_bit(width) || width < 8 || width > 64) return std::nullopt;
      uint64_t bits = given.value_or(inst->Number(0, width == 64));
      return static_cast<int64_t>(ir::WrapInteger(ir::IntegerOf(width, type->At(1) != 0), bits));
    }
    case spv::OpSpecConstantOp:
      return Operation(*inst, depth);
    default:
      return std::nullopt;
  }
}

/// The operations that lengths and sizes are computed with.
std::optional<int64_t> Types::Operation(const Instruction& inst, uint32_t depth) const {
  std::optional<int64_t> a = Integer(inst.At(1), depth + 1), b = Integer(inst.At(2), depth + 1);
  if (!a || !b) return std::nullopt;
  auto ua = static_cast<uint64_t>(*a), ub = static_cast<uint64_t>(*b);
  int64_t value = 0;
  switch (inst.At(0)) {
    case spv::OpIAdd:
      value = static_cast<int64_t>(ua + ub);
      break;
    case spv::OpISub:
      value = static_cast<int64_t>(ua - ub);
      break;
    case spv::OpIMul:
      value = static_cast<int64_t>(ua * ub);
      break;
    case spv::OpUDiv:
    case spv::OpSDiv:
      if (*a < 0 || *b <= 0) return std::nullopt;
      value = *a / *b;
      break;
    case spv::OpUMod:
    case spv::OpSMod:
    case spv::OpSRem:
      if (*a < 0 || *b <= 0) return std::nullopt;
      value = *a % *b;
      break;
    case spv::OpShiftLeftLogical:
      if (*b < 0 || *b > 31) return std::nullopt;
      value = static_cast<int64_t>(ua << ub);
      break;
    default:
      return std::nullopt;
  }
  // A number beyond 32 bits would wrap in the shader.
  if (value < INT32_MIN || value > INT32_MAX) return std::nullopt;
  return value;
}

}  // namespace adc::frontend::spirv

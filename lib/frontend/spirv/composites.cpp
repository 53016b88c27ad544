// Vectors, matrices, structures and arrays as values, and their parts.

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

using ir::Op;

ir::Value Lowering::ComponentOf(ir::Value vector, uint32_t n) {
  if (kernel_->TypeOf(vector).IsScalar()) return vector;
  return b_->Make(Op::VecGet, {vector, b_->I32(static_cast<int32_t>(n))});
}

ir::Value Lowering::MakeVector(std::span<const ir::Value> parts) {
  return parts.size() == 1 ? parts[0] : b_->Make(Op::VecMake, parts);
}

ir::Value Lowering::Column(ir::Value matrix, uint32_t column) {
  std::vector<ir::Value> parts;
  for (uint32_t row = 0; row < kernel_->TypeOf(matrix).rows; ++row)
    parts.push_back(b_->Make(
        Op::MatGet, {matrix, b_->I32(static_cast<int32_t>(row)), b_->I32(static_cast<int32_t>(column))}));
  return MakeVector(parts);
}

ir::Value Lowering::MatrixOf(ir::Type type, std::span<const ir::Value> columns) {
  if (columns.size() != type.columns)
    Refuse(diag::E0852, b_->span(), "a matrix has another number of columns");
  std::vector<ir::Value> parts;
  for (uint32_t row = 0; row < type.rows; ++row) {
    for (uint32_t column = 0; column < type.columns; ++column)
      parts.push_back(ComponentOf(columns[column], row));
  }
  return kernel_->Result(b_->Create(Op::MatMake, parts, {&type, 1}));
}

void Lowering::Construct(const Instruction& inst) {
  std::vector<ir::Value> parts;
  for (size_t n = 0; n < inst.operands.size(); ++n) {
    Value part = Get(inst.At(n));
    parts.insert(parts.end(), part.parts.begin(), part.parts.end());
  }
  if (!types_.IsRegister(inst.type)) {
    Set(inst, {std::move(parts)});
    return;
  }
  ir::Type type = types_.Register(inst.type);
  if (type.IsMat()) {
    SetOne(inst, MatrixOf(type, parts));
    return;
  }
  std::vector<ir::Value> scalars;
  for (ir::Value part : parts) {
    for (uint32_t n = 0; n < kernel_->TypeOf(part).Components(); ++n) scalars.push_back(ComponentOf(part, n));
  }
  Require(scalars.size() == type.Components(), inst, "a vector has another number of components");
  SetOne(inst, MakeVector(scalars));
}

Lowering::LeafRange Lowering::FollowIndices(const Instruction& inst, size_t at) {
  const Instruction* whole = binary_.Find(inst.At(at - 1));
  LeafRange range;
  Id type = whole->type;
  while (at < inst.operands.size() && !types_.IsRegister(type)) {
    uint32_t part = inst.At(at++);
    Require(part < types_.Count(type), inst, "a part is named that a value does not have");
    if (types_.KindOf(type) == spv::OpTypeStruct) {
      for (uint32_t n = 0; n < part; ++n) range.begin += types_.LeafCount(types_.Member(type, n));
    } else {
      range.begin += size_t{part} * types_.LeafCount(types_.Element(type));
    }
    type = types_.Part(type, part);
  }
  range.count = types_.LeafCount(type);
  range.next = at;
  return range;
}

void Lowering::CheckComponent(const Instruction& inst, ir::Type type, size_t at) {
  uint32_t most = type.IsMat() ? type.columns : type.rows;
  bool element = inst.operands.size() - at == 2;
  Require(
      !type.IsScalar() && inst.At(at) < most && (!element || (type.IsMat() && inst.At(at + 1) < type.rows)),
      inst, "a component is named that a value does not have");
}

void Lowering::Extract(const Instruction& inst) {
  Value whole = Get(inst.At(0));
  auto [begin, count, at] = FollowIndices(inst, 1);
  Require(begin + count <= whole.parts.size(), inst, "a part is named that a value does not have");
  if (at == inst.operands.size()) {
    auto first = whole.parts.begin() + static_cast<std::ptrdiff_t>(begin);
    Set(inst, {{first, first + static_cast<std::ptrdiff_t>(count)}});
    return;
  }
  ir::Value reg = whole.parts[begin];
  ir::Type type = kernel_->TypeOf(reg);
  CheckComponent(inst, type, at);
  ir::Value part = type.IsMat() ? Column(reg, inst.At(at)) : ComponentOf(reg, inst.At(at));
  SetOne(inst, inst.operands.size() - at == 2 ? ComponentOf(part, inst.At(at + 1)) : part);
}

void Lowering::Insert(const Instruction& inst) {
  Value whole = Get(inst.At(1)), part = Get(inst.At(0));
  auto [begin, count, at] = FollowIndices(inst, 2);
  Require(begin + count <= whole.parts.size(), inst, "a part is named that a value does not have");
  if (at == inst.operands.size()) {
    Require(part.parts.size() == count, inst, "a part of another type is inserted");
    std::copy(part.parts.begin(), part.parts.end(), whole.parts.begin() + static_cast<std::ptrdiff_t>(begin));
    Set(inst, std::move(whole));
    return;
  }
  ir::Value& reg = whole.parts[begin];
  ir::Type type = kernel_->TypeOf(reg);
  CheckComponent(inst, type, at);
  ir::Value now = GetOne(inst.At(0));
  auto with = [&](ir::Value vector, uint32_t n) {
    return b_->Make(Op::VecSet, {vector, b_->I32(static_cast<int32_t>(n)), now});
  };
  if (type.IsVec()) {
    reg = with(reg, inst.At(at));
  } else {
    std::vector<ir::Value> columns;
    for (uint32_t n = 0; n < type.columns; ++n) columns.push_back(Column(reg, n));
    ir::Value& column = columns[inst.At(at)];
    column = inst.operands.size() - at == 2 ? with(column, inst.At(at + 1)) : now;
    reg = MatrixOf(type, columns);
  }
  Set(inst, std::move(whole));
}

void Lowering::Shuffle(const Instruction& inst) {
  ir::Value a = GetOne(inst.At(0)), b = GetOne(inst.At(1));
  uint32_t count = kernel_->TypeOf(a).Components(), all = count + kernel_->TypeOf(b).Components();
  std::vector<ir::Value> parts;
  for (size_t n = 2; n < inst.operands.size(); ++n) {
    uint32_t from = inst.At(n);
    if (from == UINT32_MAX) from = 0;  // undefined
    Require(from < all, inst, "a component is named that a value does not have");
    parts.push_back(from < count ? ComponentOf(a, from) : ComponentOf(b, from - count));
  }
  SetOne(inst, MakeVector(parts));
}

bool Lowering::Composite(const Instruction& inst) {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpCompositeConstruct:
      Construct(inst);
      return true;
    case spv::OpCompositeExtract:
      Extract(inst);
      return true;
    case spv::OpCompositeInsert:
      Insert(inst);
      return true;
    case spv::OpVectorShuffle:
      Shuffle(inst);
      return true;
    default:
      return false;
  }
}

}  // namespace adc::frontend::spirv

// Vectors, matrices, structures and arrays as values, and their parts.

#include "frontend/spirv/arithmetic.h"

namespace adc::frontend::spirv {

using ir::Op;

Value Values::Composed(const Instruction& inst, const std::function<Value(Id)>& of) {
  std::vector<ir::Value> parts, scalars;
  for (Id operand : inst.operands) {
    Value part = of(operand);
    parts.insert(parts.end(), part.parts.begin(), part.parts.end());
  }
  if (!types_.IsRegister(inst.type)) return {std::move(parts)};
  ir::Type type = types_.Register(inst.type);
  if (type.IsMat()) return {{b_.MatrixOf(type, parts)}};
  for (ir::Value part : parts) {
    for (uint32_t n = 0; n < kernel_.TypeOf(part).Components(); ++n)
      scalars.push_back(b_.ComponentOf(part, n));
  }
  Require(scalars.size() == type.Components(), inst, "a vector has another number of components");
  return {{b_.MakeVector(scalars)}};
}

Arithmetic::LeafRange Arithmetic::FollowIndices(const Instruction& inst, size_t at, const Value& whole) {
  LeafRange range;
  Id type = binary_.Find(inst.At(at - 1))->type;
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
  Require(range.begin + range.count <= whole.parts.size(), inst,
          "a part is named that a value does not have");
  return range;
}

void Arithmetic::CheckComponent(const Instruction& inst, ir::Type type, size_t at) {
  uint32_t most = type.IsMat() ? type.columns : type.rows;
  bool element = inst.operands.size() - at == 2;
  Require(
      !type.IsScalar() && inst.At(at) < most && (!element || (type.IsMat() && inst.At(at + 1) < type.rows)),
      inst, "a component is named that a value does not have");
}

Value Arithmetic::Extract(const Instruction& inst) {
  Value whole = Get(inst.At(0));
  auto [begin, count, at] = FollowIndices(inst, 1, whole);
  if (at == inst.operands.size()) {
    auto first = whole.parts.begin() + static_cast<std::ptrdiff_t>(begin);
    return {{first, first + static_cast<std::ptrdiff_t>(count)}};
  }
  ir::Value reg = whole.parts[begin];
  ir::Type type = kernel_.TypeOf(reg);
  CheckComponent(inst, type, at);
  ir::Value part = type.IsMat() ? b_.Column(reg, inst.At(at)) : b_.ComponentOf(reg, inst.At(at));
  return {{inst.operands.size() - at == 2 ? b_.ComponentOf(part, inst.At(at + 1)) : part}};
}

Value Arithmetic::Insert(const Instruction& inst) {
  Value whole = Get(inst.At(1)), part = Get(inst.At(0));
  auto [begin, count, at] = FollowIndices(inst, 2, whole);
  if (at == inst.operands.size()) {
    Require(part.parts.size() == count, inst, "a part of another type is inserted");
    std::copy(part.parts.begin(), part.parts.end(), whole.parts.begin() + static_cast<std::ptrdiff_t>(begin));
    return whole;
  }
  ir::Value& reg = whole.parts[begin];
  ir::Type type = kernel_.TypeOf(reg);
  CheckComponent(inst, type, at);
  ir::Value now = GetOne(inst.At(0));
  auto with = [&](ir::Value vector, uint32_t n) { return b_.Make(Op::VecSet, {vector, b_.I32(n), now}); };
  if (type.IsVec()) {
    reg = with(reg, inst.At(at));
  } else {
    std::vector<ir::Value> columns;
    for (uint32_t n = 0; n < type.columns; ++n) columns.push_back(b_.Column(reg, n));
    ir::Value& column = columns[inst.At(at)];
    column = inst.operands.size() - at == 2 ? with(column, inst.At(at + 1)) : now;
    reg = b_.MatrixOf(type, columns);
  }
  return whole;
}

Value Arithmetic::Shuffle(const Instruction& inst) {
  ir::Value a = GetOne(inst.At(0)), b = GetOne(inst.At(1));
  uint32_t count = kernel_.TypeOf(a).Components(), all = count + kernel_.TypeOf(b).Components();
  std::vector<ir::Value> parts;
  for (size_t n = 2; n < inst.operands.size(); ++n) {
    uint32_t from = inst.At(n);
    if (from == UINT32_MAX) from = 0;  // undefined
    Require(from < all, inst, "a component is named that a value does not have");
    parts.push_back(from < count ? b_.ComponentOf(a, from) : b_.ComponentOf(b, from - count));
  }
  return {{b_.MakeVector(parts)}};
}

std::optional<Value> Arithmetic::Composite(const Instruction& inst) {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpCompositeConstruct:
      return Composed(inst, [this](Id id) { return Get(id); });
    case spv::OpCompositeExtract:
      return Extract(inst);
    case spv::OpCompositeInsert:
      return Insert(inst);
    case spv::OpVectorShuffle:
      return Shuffle(inst);
    default:
      return std::nullopt;
  }
}

}  // namespace adc::frontend::spirv

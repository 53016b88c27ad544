#include "frontend/spirv/memory.h"

#include <algorithm>

#include "diag/errors/shader.h"

namespace adc::frontend::spirv {

namespace {

/// Where a number lies of the vector or matrix that is the first thing at `p`; a vector is one column.
uint64_t OffsetIn(const Pointer& p, ir::Type type, uint32_t row, uint32_t column) {
  uint32_t bytes = ir::ByteSize(type.scalar);
  if (!type.IsMat()) return uint64_t{p.ComponentStride(bytes)} * row;
  return p.row_major ? uint64_t{p.matrix_stride} * row + uint64_t{bytes} * column
                     : uint64_t{p.matrix_stride} * column + uint64_t{bytes} * row;
}

}  // namespace

/// Whether the elements of the unit are vectors, each read or written as a whole.
bool Memory::HoldsVectors(const Unit* unit) const {
  return unit != nullptr && (unit->view == View::Single || unit->view == View::Elements) &&
         types_.Register(unit->type).IsVec();
}

/// A number, vector or matrix in a buffer.
ir::Value Memory::LoadRegister(const Pointer& p, Id type, const Instruction& inst) {
  ir::Type reg = types_.Register(type);
  ir::Scalar scalar = types_.MemoryScalar(type);
  if (reg.IsVec() && HoldsVectors(p.resource->Find(p.member, scalar))) {
    Place whole = PlaceOf(p, scalar, 0, inst);
    whole.component = ir::kNoAttr;
    return LoadScalar(whole);
  }
  std::vector<ir::Value> columns;
  for (uint32_t column = 0; column < std::max<uint32_t>(reg.columns, 1); ++column) {
    columns.push_back(b_.VectorOf(std::max<uint32_t>(reg.rows, 1), [&](uint32_t row) {
      return LoadScalar(PlaceOf(p, scalar, OffsetIn(p, reg, row, column), inst));
    }));
  }
  return reg.IsMat() ? b_.MatrixOf(reg, columns) : columns[0];
}

void Memory::StoreRegister(const Pointer& p, Id type, ir::Value value, const Instruction& inst) {
  ir::Type reg = types_.Register(type);
  ir::Scalar scalar = types_.MemoryScalar(type);
  if (reg.IsVec() && HoldsVectors(p.resource->Find(p.member, scalar))) {
    Place whole = PlaceOf(p, scalar, 0, inst);
    whole.component = ir::kNoAttr;
    return StoreScalar(whole, value);
  }
  for (uint32_t column = 0; column < std::max<uint32_t>(reg.columns, 1); ++column) {
    ir::Value vector = reg.IsMat() ? b_.Column(value, column) : value;
    for (uint32_t row = 0; row < std::max<uint32_t>(reg.rows, 1); ++row) {
      Place place = PlaceOf(p, scalar, OffsetIn(p, reg, row, column), inst);
      StoreScalar(place, b_.ComponentOf(vector, row));
    }
  }
}

void Memory::LoadMemory(const Pointer& p, Id type, const Instruction& inst, Value& out) {
  Spend(1, inst);
  if (types_.IsAddress(type)) {
    out.parts.push_back(LoadAddress(p, inst));
  } else if (types_.IsRegister(type)) {
    bool by_value = p.resource->Find(p.member, types_.MemoryScalar(type)) == nullptr &&
                    p.resource->kind != ir::ShaderBinding::Kind::StorageBuffer;
    out.parts.push_back(by_value ? LoadByValue(p, type, inst) : LoadRegister(p, type, inst));
  } else {
    types_.LeafCount(type);
    for (uint32_t n = 0; n < types_.Count(type); ++n) {
      Pointer part = Inner(p, type, n, inst);
      LoadMemory(part, part.pointee, inst, out);
    }
  }
}

void Memory::StoreMemory(const Pointer& p, Id type, std::span<const ir::Value>& parts,
                         const Instruction& inst) {
  Spend(1, inst);
  if (types_.IsAddress(type))
    Refuse(diag::E0854, inst.span, "a pointer is written to memory",
           "write the number of an element instead");
  if (types_.IsRegister(type)) {
    StoreRegister(p, type, parts[0], inst);
    parts = parts.subspan(1);
    return;
  }
  types_.LeafCount(type);
  for (uint32_t n = 0; n < types_.Count(type); ++n) {
    Pointer part = Inner(p, type, n, inst);
    StoreMemory(part, part.pointee, parts, inst);
  }
}

ir::Value Memory::LoadBuiltin(const Pointer& p, const Instruction& inst) {
  ir::Value whole = Builtin(p.builtin, inst);
  return p.component ? b_.Make(ir::Op::VecGet, {whole, ValueOf(*p.component)}) : whole;
}

Value Memory::Load(const Pointer& p, const Instruction& inst) {
  if (p.kind == Pointer::Kind::Builtin) return {{LoadBuiltin(p, inst)}};
  if (p.kind == Pointer::Kind::Local) return LoadLocal(p);
  Require(p.kind == Pointer::Kind::Memory, inst, "a pointer leads nowhere");
  if (p.part) return {{LoadComponent(p, inst)}};
  Value out;
  LoadMemory(p, p.pointee, inst, out);
  return out;
}

void Memory::Store(const Pointer& p, const Value& value, const Instruction& inst) {
  std::span<const ir::Value> parts = value.parts;
  if (p.kind == Pointer::Kind::Local) return StoreLocal(p, parts, inst);
  Require(p.kind == Pointer::Kind::Memory, inst, "something is written that cannot be");
  Require(p.resource->kind == ir::ShaderBinding::Kind::StorageBuffer, inst, "a constant block is written");
  p.part ? StoreComponent(p, parts[0], inst) : StoreMemory(p, p.pointee, parts, inst);
}

void Memory::ArrayLength(const Instruction& inst) {
  Pointer block = GetPointer(inst.At(0), inst);
  Require(block.kind == Pointer::Kind::Memory && !block.in_block && block.resource != nullptr, inst,
          "the length of something other than a block's array is asked for");
  Unit* unit = nullptr;
  for (Unit& candidate : block.resource->units) {
    if (candidate.member == inst.At(1)) unit = &candidate;
  }
  Require(unit != nullptr, inst, "the length of a member is asked for that is no array");
  ir::Value length = b_.Shape(unit->param, 0);
  if (unit->view == View::Words) {
    Id array = types_.Member(block.resource->block, inst.At(1));
    int64_t offset = binary_.MemberDecorated(block.resource->block, inst.At(1), spv::DecorationOffset);
    auto bytes = static_cast<int32_t>(ir::ByteSize(unit->scalar));
    auto stride = static_cast<int32_t>(types_.ArrayStride(array));
    ir::Value words = b_.Make(ir::Op::Sub, {length, b_.I32(static_cast<int32_t>(offset) / bytes)});
    length = b_.Make(ir::Op::Div, {words, b_.I32(std::max(1, stride / bytes))});
  }
  SetOne(inst, length);
}

}  // namespace adc::frontend::spirv

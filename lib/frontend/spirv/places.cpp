// Numbers in memory: the unit and the element that a pointer leads to.

#include "diag/errors/shader.h"
#include "frontend/spirv/memory.h"

namespace adc::frontend::spirv {

/// The unit and the element `more` bytes after a pointer.
Memory::Place Memory::PlaceOf(const Pointer& p, ir::Scalar scalar, uint64_t more, const Instruction& inst) {
  Place place;
  place.unit = p.resource->Find(p.member, scalar);
  Require(place.unit != nullptr && p.in_block, inst, "a member is accessed as another kind of number");
  const Unit& unit = *place.unit;
  uint32_t bytes = ir::ByteSize(unit.scalar);
  uint64_t offset = p.offset + more;
  bool aligned = offset % bytes == 0;
  for (const auto& [value, stride] : p.terms) aligned = aligned && stride % bytes == 0;
  if (unit.view == View::Words)
    aligned = aligned && p.member_offset % bytes == 0 && p.outer_stride % bytes == 0;
  if (!aligned)
    Refuse(diag::E0853, inst.span, "a member does not lie at a multiple of its size",
           "align the members of the block");
  if (offset / bytes > INT32_MAX) Refuse(diag::E0853, inst.span, "a block is larger than 2 GiB");
  Index inner{static_cast<int64_t>(offset / bytes), {}};
  for (const auto& [value, stride] : p.terms) inner = Sum(inner, Scale({0, value}, stride / bytes));
  switch (unit.view) {
    case View::Single:
    case View::Elements:
      if (unit.view == View::Elements) {
        Require(p.has_outer, inst, "an array is accessed as a whole");
        place.indices.push_back(ValueOf(p.outer));
      }
      if (types_.Register(unit.type).IsVec()) {
        Require(!inner.dynamic.Valid(), inst, "a component is named by no constant");
        place.component = static_cast<uint32_t>(inner.constant);
      }
      return place;
    case View::Rows:
      Require(p.has_outer, inst, "an array is accessed as a whole");
      place.indices = {ValueOf(p.outer), ValueOf(inner)};
      return place;
    case View::Words:
      inner.constant += static_cast<int64_t>(p.member_offset / bytes);
      if (p.has_outer) inner = Sum(Scale(p.outer, p.outer_stride / bytes), inner);
      place.indices = {ValueOf(inner)};
      return place;
    case View::Value:
    case View::Texels:
      break;
  }
  Refuse(diag::E0852, inst.span, "a value is accessed as memory");
}

ir::Value Memory::FromMemory(ir::Value value) {
  ir::Type type = kernel_.TypeOf(value);
  return ir::IsUnsigned(type.scalar) ? b_.Cast(value, IntegersLike(type, true)) : value;
}

ir::Value Memory::ToMemory(ir::Value value, ir::Scalar scalar) {
  if (ir::IsFloat(scalar) && !kernel_.TypeOf(value).IsFloat()) return b_.Bitcast(value, ir::Type::Of(scalar));
  return b_.Cast(value, kernel_.TypeOf(value).WithScalar(scalar));
}

ir::Value Memory::LoadScalar(const Place& place) {
  ir::Value value = b_.Load(place.Base(), place.indices, ir::kNoAttr, place.component);
  return place.unit != nullptr && place.unit->float_words ? b_.Bitcast(value, ir::kI32) : FromMemory(value);
}

void Memory::StoreScalar(const Place& place, ir::Value value) {
  ir::Value memory = ToMemory(value, place.unit->scalar);
  b_.Access(ir::Op::Store, place.unit->param, place.indices, {&memory, 1}, ir::kNoAttr, place.component);
}

}  // namespace adc::frontend::spirv

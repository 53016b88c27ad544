// Pointers to a component of a vector in memory.

#include <algorithm>

#include "frontend/spirv/memory.h"

namespace adc::frontend::spirv {

/// A pointer to a component as one to a number.
Pointer Memory::ComponentPlace(const Pointer& pointer) {
  Pointer p = pointer;
  uint32_t stride = p.ComponentStride(ir::ByteSize(types_.Register(p.vector).scalar));
  p.offset += static_cast<uint64_t>(std::max<int64_t>(p.part->constant, 0)) * stride;
  if (p.part->dynamic.Valid()) p.terms.emplace_back(p.part->dynamic, stride);
  p.part.reset();
  return p;
}

Memory::Place Memory::NumberAt(const Pointer& p, const Instruction& inst) {
  return p.part ? PlaceOf(ComponentPlace(p), types_.MemoryScalar(p.vector), 0, inst)
                : PlaceOf(p, types_.MemoryScalar(p.pointee), 0, inst);
}

ir::Value Memory::LoadComponent(const Pointer& p, const Instruction& inst) {
  Unit* unit = p.resource->Find(p.member, types_.MemoryScalar(p.vector));
  bool chosen = HoldsVectors(unit) && p.part->dynamic.Valid();
  if (unit != nullptr && !chosen) return LoadScalar(NumberAt(p, inst));
  Pointer whole = p;
  whole.part.reset();
  whole.pointee = p.vector;
  Value vector;
  LoadMemory(whole, p.vector, inst, vector);
  return b_.Make(ir::Op::VecGet, {vector.parts[0], ValueOf(*p.part)});
}

void Memory::StoreComponent(const Pointer& p, ir::Value value, const Instruction& inst) {
  Unit* unit = p.resource->Find(p.member, types_.MemoryScalar(p.vector));
  Require(unit != nullptr, inst, "a member is accessed as another kind of number");
  ir::Value memory = ToMemory(value, unit->scalar);
  auto store = [&](const Pointer& to) {
    Place place = NumberAt(to, inst);
    b_.Access(ir::Op::Store, place.unit->param, place.indices, {&memory, 1}, ir::kNoAttr, place.component);
  };
  if (!HoldsVectors(unit) || !p.part->dynamic.Valid()) return store(p);
  // Component by component: the others are not touched.
  ir::Value at = ValueOf(*p.part);
  Pointer one = p;
  for (uint32_t n = 0; n < types_.Count(p.vector); ++n) {
    one.part = Index{n, {}};
    ir::Value here = b_.Make(ir::Op::Eq, {at, b_.I32(n)});
    b_.When(here, [&] { store(one); });
  }
}

}  // namespace adc::frontend::spirv

// Pointers to buffers. A shader has the address of a buffer in a block, as a pointer or as an integer, and
// each such place is a buffer of its own (resources.h). The target of a pointer is known while the module is
// read: as a value it is a constant, the number of a *place*, which is a buffer and an element. So it goes
// through structures, variables and functions; a variable that holds two of them has none.
//
//   F(address + i * 16)  ->  place {buffer of the address, element i}, where F is 16 bytes long

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/pointers.h"

namespace adc::frontend::spirv {

ir::Value Pointers::AddressOf(Resource* resource, Index element) {
  auto same = [&](const PointedPlace& place) {
    return place.resource == resource && place.element.constant == element.constant &&
           place.element.dynamic == element.dynamic;
  };
  auto found = std::find_if(places_.begin(), places_.end(), same);
  auto number = static_cast<int64_t>(found - places_.begin());
  if (found == places_.end()) places_.push_back({resource, element, b_.block()});
  return b_.Int(ir::kI64, number + 1);
}

Pointer Pointers::PointerOf(ir::Value address, const Instruction& user) {
  std::optional<int64_t> number = kernel_.IntegerConstant(address);
  bool known = number && *number > 0 && static_cast<uint64_t>(*number) <= places_.size();
  if (known) {
    const PointedPlace& place = places_[static_cast<size_t>(*number - 1)];
    if (!place.element.dynamic.Valid() || Visible(place.block)) {
      Pointer pointer;
      pointer.kind = Pointer::Kind::Memory;
      pointer.resource = place.resource;
      pointer.pointee = place.resource->block;
      pointer.outer = place.element;
      return pointer;
    }
  }
  RefuseChosen(user);
}

void Pointers::MakePointer(const Instruction& inst, const Address& address) {
  const Instruction* base = binary_.Find(address.base);
  PointedPlace place;
  if (types_.IsAddress(base->type)) {
    Pointer pointer = GetPointer(address.base, inst);
    place = {pointer.resource, pointer.outer, {}};
  } else {
    std::pair<Id, uint64_t> at = *survey_.addresses().FixedPlace(base->At(0));
    place.resource = resources_.FindPointed(at.first, at.second);
  }
  Require(place.resource != nullptr, inst, "an address leads to no block");
  if (place.resource->block != types_.Element(inst.type))
    Refuse(diag::E0854, inst.span, "a pointer becomes one to another block",
           "declare one block, with all members that the shader accesses");
  uint32_t stride = place.resource->use.stride;
  if (address.bytes != 0 && (stride == 0 || address.bytes % stride != 0))
    Refuse(diag::E0854, inst.span, "an address that is no element of what its pointer leads to",
           "index the pointer: p[i]");
  if (stride != 0) place.element.constant += address.bytes / stride;
  if (address.index != 0) {
    // The shader widens the index before it multiplies.
    Id index = address.index;
    for (uint32_t depth = 0; depth < kDeepest; ++depth) {
      const Instruction* cast = binary_.Find(index);
      bool casts = cast->op == spv::OpUConvert || cast->op == spv::OpSConvert || cast->op == spv::OpBitcast;
      if (!casts || !types_.IsRegister(binary_.Find(cast->At(0))->type)) break;
      index = cast->At(0);
    }
    place.element = Sum(place.element, IndexOf(index));
  }
  SetOne(inst, AddressOf(place.resource, place.element));
}

}  // namespace adc::frontend::spirv

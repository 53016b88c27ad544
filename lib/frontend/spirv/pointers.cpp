// Pointers to buffers. A shader has the address of a buffer in a block, as a pointer or as an integer, and
// each such place is a buffer of its own (resources.h). What a pointer leads to is known while the module is
// read: as a value it is a constant, the number of a *place*, which is a buffer and an element. So it goes
// through structures, variables and functions; a variable that holds two of them has none.
//
//   F(address + i * 16)  ->  place {buffer of the address, element i}, where F is 16 bytes long

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

namespace {

constexpr uint32_t kDeepest = 64;

bool MakesPointer(const Instruction& inst, const Types& types) {
  return (inst.op == spv::OpConvertUToPtr || inst.op == spv::OpBitcast) && types.IsAddress(inst.type);
}

}  // namespace

/// The variable that a pointer leads into, or the block that an address leads to.
Id Lowering::OwnerOf(Id pointer) const {
  Id root = RootOf(pointer);
  const Instruction* inst = binary_.Find(root);
  if (inst == nullptr || inst->op == spv::OpVariable || !types_.IsAddress(inst->type)) return root;
  return types_.Element(inst->type);
}

/// The variable and the byte that an access chain of constants leads to.
std::optional<std::pair<Id, uint64_t>> Lowering::FixedPlace(Id pointer) const {
  const Instruction* inst = binary_.Find(pointer);
  if (inst == nullptr) return std::nullopt;
  if (inst->op == spv::OpVariable) return std::pair(pointer, uint64_t{0});
  if (inst->op != spv::OpAccessChain && inst->op != spv::OpInBoundsAccessChain) return std::nullopt;
  const Instruction* variable = binary_.Find(inst->At(0));
  if (variable == nullptr || variable->op != spv::OpVariable) return std::nullopt;
  Id type = types_.Element(variable->type);
  uint64_t offset = 0;
  for (size_t n = 1; n < inst->operands.size(); ++n) {
    std::optional<int64_t> index = types_.Integer(inst->At(n));
    if (!index || *index < 0) return std::nullopt;
    auto part = static_cast<uint32_t>(*index);
    if (types_.KindOf(type) == spv::OpTypeStruct) {
      int64_t at = binary_.MemberDecorated(type, part, spv::DecorationOffset);
      if (at < 0) return std::nullopt;
      offset += static_cast<uint64_t>(at);
    } else if (types_.KindOf(type) == spv::OpTypeArray) {
      offset += uint64_t{types_.ArrayStride(type)} * part;
    } else {
      return std::nullopt;
    }
    type = types_.Part(type, part);
  }
  return std::pair(inst->At(0), offset);
}

/// Whether a load reads a fixed place of a uniform block or of push constants.
bool Lowering::ReadsConstant(const Instruction& load) const {
  std::optional<std::pair<Id, uint64_t>> place = FixedPlace(load.At(0));
  if (!place) return false;
  const Instruction& variable = *binary_.Find(place->first);
  bool storage = binary_.Decorated(types_.Element(variable.type), spv::DecorationBufferBlock) >= 0;
  return variable.At(0) == spv::StorageClassPushConstant ||
         (variable.At(0) == spv::StorageClassUniform && !storage);
}

/// What `value` is the address of; `chain` gets what the address is made of.
std::optional<Lowering::Address> Lowering::MatchAddress(Id value, std::set<Id>& chain) const {
  const Instruction* inst = binary_.Find(value);
  if (inst == nullptr) return std::nullopt;
  Address address;
  chain.insert(value);
  if (inst->op == spv::OpConvertPtrToU) {
    address.base = inst->At(0);
    return address;
  }
  if (inst->op == spv::OpLoad) {
    if (!ReadsConstant(*inst)) return std::nullopt;
    address.base = value;
    return address;
  }
  if (inst->op != spv::OpIAdd) return std::nullopt;
  for (size_t side = 0; side < 2; ++side) {
    std::set<Id> inner = chain;
    std::optional<Address> base = MatchAddress(inst->At(side), inner);
    if (!base) continue;
    Id added = inst->At(1 - side);
    const Instruction* product = binary_.Find(added);
    if (std::optional<int64_t> known = types_.Integer(added)) {
      base->bytes += *known;
    } else if (product != nullptr && product->op == spv::OpIMul && base->index == 0) {
      size_t constant = types_.Integer(product->At(1)) ? 1 : 0;
      std::optional<int64_t> stride = types_.Integer(product->At(constant));
      if (!stride || *stride <= 0 || *stride > INT32_MAX) return std::nullopt;
      base->index = product->At(1 - constant);
      base->stride = static_cast<uint32_t>(*stride);
    } else {
      return std::nullopt;
    }
    chain = std::move(inner);
    return base;
  }
  return std::nullopt;
}

/// Which addresses the functions compute that are places of buffers, and what is done with blocks behind
/// them. An address that something else is made of as well is a number, and no place.
void Lowering::FindPointers() {
  std::map<Id, std::set<Id>> chains;
  std::vector<const Instruction*> all;
  for (Id function : functions_) {
    auto found = binary_.functions().find(function);
    if (found == binary_.functions().end()) continue;
    for (const Block& block : found->second.blocks) {
      all.insert(all.end(), block.body.begin(), block.body.end());
      all.insert(all.end(), block.phis.begin(), block.phis.end());
      if (block.terminator != nullptr) all.push_back(block.terminator);
    }
  }
  for (const Instruction* inst : all) {
    if (!MakesPointer(*inst, types_)) continue;
    std::set<Id> chain;
    if (std::optional<Address> address = MatchAddress(inst->At(0), chain)) {
      addresses_[inst->result] = *address;
      chains[inst->result] = std::move(chain);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    std::set<Id> parts, numbers;
    for (const auto& [pointer, chain] : chains) parts.insert(chain.begin(), chain.end());
    for (const Instruction* inst : all) {
      if (parts.count(inst->result) != 0 || chains.count(inst->result) != 0) continue;
      numbers.insert(inst->operands.begin(), inst->operands.end());
    }
    for (auto chain = chains.begin(); chain != chains.end();) {
      bool number = std::any_of(chain->second.begin(), chain->second.end(),
                                [&](Id part) { return numbers.count(part) != 0; });
      if (number) addresses_.erase(chain->first);
      changed = changed || number;
      chain = number ? chains.erase(chain) : std::next(chain);
    }
    address_parts_ = std::move(parts);
  }
  for (const auto& [pointer, address] : addresses_) {
    Id block = types_.Element(binary_.Find(pointer)->type);
    if (address.stride != 0) {
      uint32_t& stride = pointed_.blocks[block].stride;
      if (stride != 0 && stride != address.stride)
        Refuse(diag::E0854, binary_.Find(pointer)->span, "a pointer is indexed with elements of two sizes");
      stride = address.stride;
    }
    const Instruction* base = binary_.Find(address.base);
    if (base->op != spv::OpLoad || types_.IsAddress(base->type)) continue;
    auto [known, fresh] = pointed_.addresses.try_emplace(*FixedPlace(base->At(0)), block);
    if (!fresh && known->second != block)
      Refuse(diag::E0854, binary_.Find(pointer)->span, "one address is that of blocks of two types",
             "declare one block, with all members that the shader accesses");
  }
}

/// The constant that stands for a pointer to `element` of a buffer.
ir::Value Lowering::AddressOf(Resource* resource, Index element) {
  auto same = [&](const PointedPlace& place) {
    return place.resource == resource && place.element.constant == element.constant &&
           place.element.dynamic == element.dynamic;
  };
  auto found = std::find_if(places_.begin(), places_.end(), same);
  auto number = static_cast<int64_t>(found - places_.begin());
  if (found == places_.end()) places_.push_back({resource, element, b_->block()});
  return b_->Int(ir::kI64, number + 1);
}

Pointer Lowering::PointerOf(ir::Value address, const Instruction& user) {
  std::optional<int64_t> number = kernel_->IntegerConstant(address);
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
  Refuse(diag::E0854, user.span, "a pointer that is chosen at run time",
         "index one buffer, or branch on what chooses");
}

/// A pointer made of an address.
void Lowering::MakePointer(const Instruction& inst) {
  const Address& address = addresses_.at(inst.result);
  const Instruction* base = binary_.Find(address.base);
  PointedPlace place;
  if (types_.IsAddress(base->type)) {
    Pointer pointer = GetPointer(address.base, inst);
    place = {pointer.resource, pointer.outer, {}};
  } else {
    std::pair<Id, uint64_t> at = *FixedPlace(base->At(0));
    place.resource = resources_->FindPointed(at.first, at.second);
  }
  Require(place.resource != nullptr, inst, "an address leads to no block");
  if (place.resource->block != types_.Element(inst.type))
    Refuse(diag::E0854, inst.span, "a pointer becomes one to another block",
           "declare one block, with all members that the shader accesses");
  uint32_t stride = place.resource->stride;
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

/// The pointer that lies in memory: of a fixed place in a block that is no pointer's.
ir::Value Lowering::LoadAddress(const Pointer& p, const Instruction& inst) {
  uint64_t at = p.member_offset + p.offset;
  if (p.has_outer) at += static_cast<uint64_t>(std::max<int64_t>(p.outer.constant, 0)) * p.outer_stride;
  bool fixed = p.terms.empty() && !p.outer.dynamic.Valid() && !p.resource->by_pointer;
  Resource* found = fixed ? resources_->FindPointed(p.resource->variable, at) : nullptr;
  if (found != nullptr) return AddressOf(found, {});
  // A structure may have one that nothing asks for.
  if (!types_.IsAddress(p.pointee) || !types_.IsAddress(inst.type)) return b_->Int(ir::kI64, 0);
  if (p.resource->by_pointer)
    Refuse(diag::E0854, inst.span, "a pointer that lies behind another pointer",
           "pass what it leads to in push constants or a uniform block; instead of a list pass an array");
  Refuse(diag::E0854, inst.span, "a pointer that lies in an element of a buffer or is chosen by an index",
         "pass one pointer per buffer in push constants or a uniform block, or all of it as one buffer");
}

/// A variable may hold one pointer.
void Lowering::StoreAddress(Local::Leaf& leaf, ir::Value address, const Instruction& inst) {
  std::optional<int64_t> now = kernel_->IntegerConstant(address), before;
  if (leaf.address.Valid()) before = kernel_->IntegerConstant(leaf.address);
  if (!now || (leaf.address.Valid() && before != now))
    Refuse(diag::E0854, inst.span, "a pointer that is chosen at run time",
           "index one buffer, or branch on what chooses; a variable holds one pointer");
  leaf.address = address;
}

}  // namespace adc::frontend::spirv

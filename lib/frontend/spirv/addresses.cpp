#include "frontend/spirv/addresses.h"

#include <algorithm>

#include "diag/errors/shader.h"

namespace adc::frontend::spirv {

namespace {

bool MakesPointer(const Instruction& inst, const Types& types) {
  return (inst.op == spv::OpConvertUToPtr || inst.op == spv::OpBitcast) && types.IsAddress(inst.type);
}

}  // namespace

std::optional<std::pair<Id, uint64_t>> Addresses::FixedPlace(Id pointer) const {
  const Instruction* inst = binary_.Find(pointer);
  if (inst == nullptr) return std::nullopt;
  if (inst->op == spv::OpVariable) return std::pair(pointer, uint64_t{0});
  if (!IsChain(*inst) || inst->op == spv::OpCopyObject) return std::nullopt;
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
bool Addresses::ReadsConstant(const Instruction& load) const {
  std::optional<std::pair<Id, uint64_t>> place = FixedPlace(load.At(0));
  if (!place) return false;
  const Instruction& variable = *binary_.Find(place->first);
  bool storage = binary_.Decorated(types_.Element(variable.type), spv::DecorationBufferBlock) >= 0;
  return variable.At(0) == spv::StorageClassPushConstant ||
         (variable.At(0) == spv::StorageClassUniform && !storage);
}

/// The place that `value` is the address of; `chain` gets the parts of the address.
std::optional<Address> Addresses::MatchAddress(Id value, std::set<Id>& chain) const {
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

void Addresses::Find(std::span<const Instruction* const> all, Pointed& pointed) {
  Match(all);
  for (const auto& [pointer, address] : addresses_) Tell(pointer, address, pointed);
}

void Addresses::Match(std::span<const Instruction* const> all) {
  std::map<Id, std::set<Id>> chains;
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
    parts_ = std::move(parts);
  }
}

/// The uses of the block that an address leads to.
void Addresses::Tell(Id pointer, const Address& address, Pointed& pointed) const {
  Id block = types_.Element(binary_.Find(pointer)->type);
  if (address.stride != 0) {
    uint32_t& stride = pointed.blocks[block].stride;
    if (stride != 0 && stride != address.stride)
      Refuse(diag::E0854, binary_.Find(pointer)->span, "a pointer is indexed with elements of two sizes");
    stride = address.stride;
  }
  const Instruction* base = binary_.Find(address.base);
  if (base->op != spv::OpLoad || types_.IsAddress(base->type)) return;
  auto [known, fresh] = pointed.addresses.try_emplace(*FixedPlace(base->At(0)), block);
  if (!fresh && known->second != block)
    Refuse(diag::E0854, binary_.Find(pointer)->span, "one address is that of blocks of two types",
           "declare one block, with all members that the shader accesses");
}

const Address* Addresses::Of(Id pointer) const {
  auto found = addresses_.find(pointer);
  return found == addresses_.end() ? nullptr : &found->second;
}

}  // namespace adc::frontend::spirv

#include "codegen/spirv/declarations.h"

#include "codegen/spirv/module_builder.h"
#include "support/check.h"

namespace adc::codegen::spirv {

Id Types::Intern(const Words& key) {
  auto [place, fresh] = interned_.try_emplace(key, 0);
  if (fresh) place->second = m_.Declare(static_cast<spv::Op>(key[0]), 0, std::span(key).subspan(1));
  return place->second;
}

Id Types::Int(uint32_t width) {
  if (width == 64) m_.AddCapability(spv::CapabilityInt64);
  return Intern({spv::OpTypeInt, width, 0});
}

Id Types::Float(uint32_t width) {
  if (width == 64) m_.AddCapability(spv::CapabilityFloat64);
  m_.ComputeWith(width);
  return Intern({spv::OpTypeFloat, width});
}

Id Types::RuntimeArray(Id element, uint32_t stride) {
  Id& array = arrays_[{element, stride}];
  if (array != 0) return array;
  array = m_.Declare(spv::OpTypeRuntimeArray, 0, Words{element});
  m_.Decorate(array, spv::DecorationArrayStride, {stride});
  return array;
}

Id Types::BlockAround(Id member, bool writable) {
  Id block = m_.Declare(spv::OpTypeStruct, 0, Words{member});
  m_.Decorate(block, spv::DecorationBlock);
  m_.DecorateMember(block, 0, spv::DecorationOffset, {0});
  if (!writable) m_.DecorateMember(block, 0, spv::DecorationNonWritable);
  return block;
}

Id Types::BlockOfArray(Id element, uint32_t stride, bool writable) {
  Id array = RuntimeArray(element, stride);
  auto [place, fresh] = blocks_.try_emplace(Words{array, writable}, 0);
  if (!fresh) return place->second;
  place->second = BlockAround(array, writable);
  // Its variables have names; that of the type says nothing of them.
  m_.NameMember(place->second, 0, "_data");
  return place->second;
}

Id Types::BlockOfArray(Id element, uint32_t stride, bool writable, const BlockNames& names) {
  Id block = BlockAround(RuntimeArray(element, stride), writable);
  m_.Name(block, names.block);
  m_.NameMember(block, 0, names.member);
  return block;
}

Id Types::BlockOfOne(Id member, const BlockNames& names) {
  Id block = BlockAround(member, true);
  m_.Name(block, names.block);
  m_.NameMember(block, 0, names.member);
  return block;
}

Id Types::ArrayInBlock(Id element, uint32_t length, uint32_t stride) {
  Id& array = block_arrays_[{element, length, stride}];
  if (array != 0) return array;
  Id count = m_.constants.Int(32, length);
  array = m_.Declare(spv::OpTypeArray, 0, Words{element, count});
  m_.Decorate(array, spv::DecorationArrayStride, {stride});
  return array;
}

Id Types::BlockOfVectors(Id component, uint32_t count, const BlockNames& names) {
  return BlockOfOne(ArrayInBlock(Vector(component, 4), count, 16), names);
}

Id Types::BlockOf(std::span<const BlockMember> members) {
  Words operands;
  for (const BlockMember& member : members) operands.push_back(member.type);
  Id block = m_.Declare(spv::OpTypeStruct, 0, operands);
  m_.Decorate(block, spv::DecorationBlock);
  for (uint32_t n = 0; n < members.size(); ++n) {
    m_.DecorateMember(block, n, spv::DecorationOffset, {members[n].offset});
    m_.NameMember(block, n, members[n].name);
  }
  return block;
}

Id Types::Array(Id element, uint32_t length) {
  return Intern({spv::OpTypeArray, element, m_.constants.Int(32, length)});
}

Id Types::Image(Id component, const ir::ShaderImage& image) {
  return Intern({spv::OpTypeImage, component, image.dimension, 0, image.has_layers ? 1u : 0u, 0,
                 image.is_sampled ? 1u : 2u, image.format});
}

Id Types::Function(Id result, std::span<const Id> parameters) {
  return Intern(Joined({spv::OpTypeFunction, result}, parameters));
}

Id Constants::Intern(const Words& key) {
  auto [place, fresh] = interned_.try_emplace(key, 0);
  if (fresh) place->second = m_.Declare(static_cast<spv::Op>(key[0]), key[1], std::span(key).subspan(2));
  return place->second;
}

Id Constants::Int(uint32_t width, uint64_t value) {
  ADC_CHECK(width == 32 || width == 64, "an integer constant that no register holds");
  auto low = static_cast<uint32_t>(value), high = static_cast<uint32_t>(value >> 32);
  Id id = width == 32 ? Intern({spv::OpConstant, m_.types.Int(32), low})
                      : Intern({spv::OpConstant, m_.types.Int(64), low, high});
  integers_[id] = width == 32 ? low : value;
  return id;
}

Id Constants::Float(uint32_t width, uint64_t bits) {
  uint32_t low = static_cast<uint32_t>(bits), high = static_cast<uint32_t>(bits >> 32);
  Id id = width == 32 ? Intern({spv::OpConstant, m_.types.Float(32), low})
                      : Intern({spv::OpConstant, m_.types.Float(64), low, high});
  floats_[id] = bits;
  return id;
}

std::optional<uint64_t> Constants::FloatBits(Id id) const {
  auto found = floats_.find(id);
  return found == floats_.end() ? std::nullopt : std::optional(found->second);
}

Id Constants::Bool(bool value) {
  Id id = Intern({value ? spv::OpConstantTrue : spv::OpConstantFalse, m_.types.Bool()});
  integers_[id] = value ? 1 : 0;
  return id;
}

Id Constants::SpecializedBool(uint32_t number) {
  Id& known = specialized_[number];
  if (known != 0) return known;
  known = m_.Declare(spv::OpSpecConstantFalse, m_.types.Bool(), {});
  m_.Decorate(known, spv::DecorationSpecId, {number});
  return known;
}

Id Constants::SpecializedInt(uint32_t width, uint32_t number, uint64_t value, std::string_view name) {
  Id& known = specialized_[number];
  if (known != 0) return known;
  Words operands{static_cast<uint32_t>(value)};
  if (width == 64) operands.push_back(static_cast<uint32_t>(value >> 32));
  known = m_.Declare(spv::OpSpecConstant, m_.types.Int(width), operands);
  m_.Decorate(known, spv::DecorationSpecId, {number});
  m_.Name(known, name);
  return known;
}

Id Constants::Composite(Id type, std::span<const Id> parts) {
  return Intern(Joined({spv::OpConstantComposite, type}, parts));
}

std::optional<uint64_t> Constants::IntegerOf(Id id) const {
  auto place = integers_.find(id);
  if (place == integers_.end()) return std::nullopt;
  return place->second;
}

}  // namespace adc::codegen::spirv

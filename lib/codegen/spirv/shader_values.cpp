// Values of a shader: what its blocks, its specialisation and its dispatch say.

#include <algorithm>

#include "codegen/spirv/launch_words.h"

namespace adc::codegen::spirv {

using ir::Scalar;

namespace {

/// How a value lies in a block of the shader: as scalars of ScalarInBlock, or whole.
bool IsFloatInBlock(ir::Type type) {
  return type.scalar == Scalar::F32 || type.scalar == Scalar::F64;
}

Id ScalarInBlock(ModuleBuilder& m, ir::Type type) {
  uint32_t width = type.Is(Scalar::I1) ? 32 : RegisterWidth(type.scalar);
  return IsFloatInBlock(type) ? m.types.Float(width) : m.types.Int(width);
}

/// Whether a vector, or an array of them, may lie where the shader has the value: not across 16 bytes, as a
/// scalar layout allows, and in uniform blocks at multiples of 16 bytes.
bool IsWholeInBlock(const ir::ShaderBinding& binding, ir::Type type) {
  if (!type.IsVec() && !type.IsMat()) return type.IsScalar();
  uint32_t length = type.IsVec() ? type.rows : binding.row_major ? type.columns : type.rows;
  uint32_t alignment = ir::ByteSize(type.scalar) * (length == 2 ? 2 : 4);
  if (length < 2 || binding.offset % alignment != 0) return false;
  if (type.IsVec()) return true;
  uint32_t unit =
      binding.kind == ir::ShaderBinding::Kind::PushConstant ? alignment : std::max(alignment, 16u);
  return binding.offset % unit == 0 && binding.matrix_stride % unit == 0 &&
         binding.matrix_stride >= length * ir::ByteSize(type.scalar);
}

Id WholeInBlock(ModuleBuilder& m, const ir::ShaderBinding& binding, ir::Type type) {
  Id scalar = ScalarInBlock(m, type);
  if (type.IsVec()) return m.types.Vector(scalar, type.rows);
  if (!type.IsMat()) return scalar;
  uint32_t lines = binding.row_major ? type.rows : type.columns;
  uint32_t length = binding.row_major ? type.columns : type.rows;
  return m.types.ArrayInBlock(m.types.Vector(scalar, length), lines, binding.matrix_stride);
}

/// The values that lie in one block of the shader, by offset: a member per value, and per component of a
/// value that no vector can stand for at its place.
std::map<uint32_t, BlockMember> MembersOfBlock(Entry& entry, const ir::ShaderBinding& binding) {
  ModuleBuilder& m = entry.context.module;
  std::map<uint32_t, BlockMember> members;
  for (uint32_t n = 0; n < entry.kernel.params.size(); ++n) {
    const ir::ShaderBinding* other = entry.ShaderBindingOf(n);
    if (other == nullptr || other->kind != binding.kind) continue;
    ir::Type type = entry.TypeOfParameter(n);
    bool push = binding.kind == ir::ShaderBinding::Kind::PushConstant;
    bool same = push || (other->set == binding.set && other->binding == binding.binding);
    if (!same || type.IsBuffer()) continue;
    std::string name(entry.NameOf(n));
    Id scalar = ScalarInBlock(m, type);
    if (IsWholeInBlock(*other, type)) {
      members[other->offset] = {WholeInBlock(m, *other, type), other->offset, name};
      continue;
    }
    for (uint32_t part = 0; part < type.Components(); ++part) {
      uint32_t offset = ComponentOffset(*other, type, part);
      members[offset] = {scalar, offset, name + "." + std::to_string(part)};
    }
  }
  return members;
}

}  // namespace

Id LaunchWords::ShaderValue(uint32_t param, uint32_t component) {
  const ir::ShaderBinding& binding = *entry_.ShaderBindingOf(param);
  ir::Type type = entry_.TypeOfParameter(param);
  using Kind = ir::ShaderBinding::Kind;
  if (binding.kind == Kind::Invocations)
    return entry_.scalars.FromBits(type.scalar,
                                   f_.Resize(invocations_.Along(binding.number), entry_.Wide(), 32, false));
  if (binding.kind == Kind::SpecConstant) {
    uint32_t width = type.Is(Scalar::I1) ? 32 : RegisterWidth(type.scalar);
    Id bits = m_.constants.SpecializedInt(width, binding.number, binding.default_bits, entry_.NameOf(param));
    return entry_.scalars.FromBits(type.scalar, bits);
  }
  bool push = binding.kind == Kind::PushConstant;
  spv::StorageClass memory = push ? spv::StorageClassPushConstant : spv::StorageClassUniform;
  // One variable per block of the shader.
  std::string key = push ? "push" : std::to_string(binding.set) + "." + std::to_string(binding.binding);
  std::map<uint32_t, BlockMember> members = MembersOfBlock(entry_, binding);
  for (const auto& [offset, member] : members)
    key += "," + std::to_string(offset) + ":" + std::to_string(member.type);
  Id& variable = entry_.context.value_blocks[key];
  if (variable == 0) {
    std::vector<BlockMember> list;
    for (const auto& [offset, member] : members) list.push_back(member);
    Id block = m_.types.BlockOf(list);
    variable = m_.GlobalVariable(memory, block);
    m_.Name(block, binding.block);
    m_.Name(variable, binding.block);
    if (!push) {
      m_.Decorate(variable, spv::DecorationDescriptorSet, {binding.set});
      m_.Decorate(variable, spv::DecorationBinding, {binding.binding});
    }
  }
  entry_.Uses(variable);
  bool whole = IsWholeInBlock(binding, type);
  auto position = [&](uint32_t offset) {
    return f_.Int(32, static_cast<uint64_t>(std::distance(members.begin(), members.find(offset))));
  };
  std::vector<Id> chain = {variable,
                           position(whole ? binding.offset : ComponentOffset(binding, type, component))};
  if (whole && type.IsMat()) {
    uint32_t row = component / type.columns, column = component % type.columns;
    chain.push_back(f_.Int(32, binding.row_major ? row : column));
    chain.push_back(f_.Int(32, binding.row_major ? column : row));
  } else if (whole && type.IsVec()) {
    chain.push_back(f_.Int(32, component));
  }
  Id scalar = ScalarInBlock(m_, type);
  Id place = f_.Emit(spv::OpAccessChain, m_.types.Pointer(memory, scalar), chain);
  Id loaded = f_.Load(scalar, place, 0);
  return IsFloatInBlock(type) ? loaded : entry_.scalars.FromBits(type.scalar, loaded);
}

}  // namespace adc::codegen::spirv

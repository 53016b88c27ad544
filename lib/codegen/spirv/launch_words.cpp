#include "codegen/spirv/launch_words.h"

#include "codegen/common/cells.h"

namespace adc::codegen::spirv {

using ir::Scalar;

LaunchWords::LaunchWords(Entry& entry, const TaskRows* rows, Invocations& invocations, Blocks& blocks,
                         Images& images)
    : entry_(entry),
      m_(entry.context.module),
      f_(entry.f),
      rows_(rows),
      invocations_(invocations),
      blocks_(blocks),
      images_(images),
      first_word_(ParameterCells(entry.kernel)),
      tail_(first_word_.back() + GpuRowWords(rows)) {}

Id LaunchWords::Word(uint32_t position) {
  Id& known = loaded_[position];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  bool addressed = HasAddresses(entry_.addressing);
  // The loader's words of parameters are none of a host's that has the shader's bindings.
  if (entry_.KeepsBindings()) position -= first_word_.back();
  if (words_ == 0) {
    if (!addressed) {
      words_ = blocks_.Bound(BindingOf::Words, 0, entry_.narrow ? Storage::U32 : Storage::U64, false, false);
    } else {
      entry_.Uses(entry_.context.push_constants);
      Id type = m_.types.Pointer(spv::StorageClassPushConstant, m_.types.Int(64));
      Id place = f_.Emit(spv::OpAccessChain, type, {entry_.context.push_constants, f_.Int(32, 0)});
      words_ = blocks_.At(f_.Load(m_.types.Int(64), place, 0), Storage::U64, false);
    }
  }
  if (entry_.narrow) {
    known = HalfWord(2 * position);
    return known;
  }
  Place place =
      blocks_.In(words_, addressed ? spv::StorageClassPhysicalStorageBuffer : spv::StorageClassStorageBuffer,
                 Storage::U64, f_.Int(32, position));
  known = f_.Load(m_.types.Int(64), place.pointer, place.alignment);
  return known;
}

Id LaunchWords::HalfWord(uint32_t position) {
  Place place = blocks_.In(words_, spv::StorageClassStorageBuffer, Storage::U32, f_.Int(32, position));
  return f_.Load(m_.types.Int(32), place.pointer, 0);
}

Id LaunchWords::ParameterComponent(uint32_t param, uint32_t component) {
  Id& known = components_[{param, component}];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  Scalar scalar = entry_.TypeOfParameter(param).scalar;
  if (entry_.KeepsBindings()) {
    known = ShaderValue(param, component);
    return known;
  }
  uint32_t position = first_word_[param] + component;
  Id word = Word(position);
  Id bits = RegisterWidth(scalar) == 64 ? word : f_.Resize(word, entry_.Wide(), 32, false);
  if (entry_.narrow && RegisterWidth(scalar) == 64) {
    Id high = f_.ShiftLeft(64, f_.Resize(HalfWord(2 * position + 1), 32, 64, false), f_.Int(32, 32));
    bits = f_.Emit(spv::OpBitwiseOr, m_.types.Int(64), {f_.Resize(word, 32, 64, false), high});
  }
  if (scalar == Scalar::I1) bits = f_.And(32, bits, f_.Int(32, 0xFF));
  known = entry_.scalars.FromBits(scalar, bits);
  return known;
}

/// A dispatch has as many iterations as invocations, and each runs one.
Id LaunchWords::ShaderIterations() {
  uint32_t wide = entry_.Wide();
  if (entry_.serial) return f_.Int(wide, 1);
  if (iterations_ != 0) return iterations_;
  FunctionBuilder::Head head(f_);
  iterations_ = f_.Int(wide, 1);
  for (uint32_t axis = 3; axis-- > 0;) {
    if (entry_.layout.axes[axis]) iterations_ = f_.Mul(wide, iterations_, invocations_.Along(axis));
  }
  return iterations_;
}

/// Extents follow from the memory that is bound, as the shader's `length()` does.
Id LaunchWords::ShaderExtent(uint32_t param, uint32_t axis) {
  Id& known = extents_[{param, axis}];
  if (known != 0) return known;
  if (entry_.ImageOf(param) != nullptr) {
    known = images_.Extent(param, axis);
    return known;
  }
  const ir::ParamInfo& info = entry_.kernel.params[param];
  ir::Type type = entry_.TypeOfParameter(param);
  uint32_t bytes = ir::ByteSize(type.scalar), element = type.ElementBytes();
  uint32_t shape_of = info.shader_binding;
  if (shape_of == ir::kNoAttr && info.companion_of != ir::kNoAttr)
    shape_of = entry_.kernel.params[info.companion_of].shader_binding;
  uint32_t row = 0, wide = entry_.Wide();
  uint64_t fixed = 0;
  if (shape_of != ir::kNoAttr) {
    const ir::ShaderBinding& binding = entry_.context.ir.shader_bindings[shape_of];
    row = binding.row_bytes;
    fixed = binding.element_stride == 0 ? binding.fixed_bytes : 0;
  }
  FunctionBuilder::Head head(f_);
  if (axis == 1) {
    known = f_.Int(wide, row / bytes);
    return known;
  }
  uint32_t unit = row != 0 ? row : element;
  if (fixed != 0) {
    known = f_.Int(wide, fixed / unit);
    return known;
  }
  auto [variable, storage] = blocks_.AnyOf(param);
  Id length = f_.Emit(spv::OpArrayLength, m_.types.Int(32), {variable, 0});
  Id elements = f_.Resize(length, 32, wide, false);
  known = f_.Div(wide, f_.Mul(wide, elements, f_.Int(wide, BytesOf(storage))), f_.Int(wide, unit));
  return known;
}

}  // namespace adc::codegen::spirv

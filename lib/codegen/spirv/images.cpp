// Images that a kernel has as its shader has them (--images=native): their variables, sizes, reads and
// writes. The front end leaves the parameter a buffer of vectors of four, whose loads and `store_texel`
// become reads and writes of whole texels here; the device converts between a texel's format and numbers of
// 32 bits.
//
//   %r = load %picture[%y, %x].0       %t = OpImageRead %v4float %image (x, y);  %r = OpCompositeExtract %t 0
//   store_texel %picture[%y, %x], ...  OpImageWrite %image (x, y) (...)
//   %w = shape %picture, 1             %s = OpImageQuerySize %v2uint %image;  %w = OpCompositeExtract %s 0

#include "codegen/spirv/images.h"

#include <algorithm>

#include "codegen/spirv/memory.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Scalar;

namespace {

/// Adds the capabilities that a module needs to have the type. Formats that each device has need no more than
/// the image.
void AskForType(ModuleBuilder& module, const ir::ShaderImage& image) {
  if (image.dimension == spv::Dim1D)
    module.AddCapability(image.is_sampled ? spv::CapabilitySampled1D : spv::CapabilityImage1D);
  if (image.is_buffer)
    module.AddCapability(image.is_sampled ? spv::CapabilitySampledBuffer : spv::CapabilityImageBuffer);
  static constexpr uint32_t kOfEachDevice[] = {
      spv::ImageFormatUnknown, spv::ImageFormatRgba32f,    spv::ImageFormatRgba16f,  spv::ImageFormatR32f,
      spv::ImageFormatRgba8,   spv::ImageFormatRgba8Snorm, spv::ImageFormatRgba32i,  spv::ImageFormatRgba16i,
      spv::ImageFormatRgba8i,  spv::ImageFormatR32i,       spv::ImageFormatRgba32ui, spv::ImageFormatRgba16ui,
      spv::ImageFormatRgba8ui, spv::ImageFormatR32ui};
  if (std::ranges::find(kOfEachDevice, image.format) == std::end(kOfEachDevice))
    module.AddCapability(spv::CapabilityStorageImageExtendedFormats);
}

}  // namespace

Id Images::TexelType(uint32_t param) {
  Scalar scalar = entry_.TypeOfParameter(param).scalar;
  return scalar == Scalar::I32 ? m_.types.Signed() : entry_.scalars.RegisterType(scalar);
}

Id Images::Load(uint32_t param) {
  const ir::ShaderImage& image = *entry_.ImageOf(param);
  Id plain = m_.types.Image(TexelType(param), image);
  Id type = image.has_sampler ? m_.types.SampledImage(plain) : plain;
  Id& variable = variables_[param];
  if (variable == 0) {
    AskForType(m_, image);
    variable = m_.GlobalVariable(spv::StorageClassUniformConstant, type);
    const DescriptorPlace& place = entry_.layout.params[param];
    m_.Name(variable, entry_.NameOf(param));
    m_.Decorate(variable, spv::DecorationDescriptorSet, {place.set});
    m_.Decorate(variable, spv::DecorationBinding, {place.binding});
    if (!image.is_sampled && !entry_.uses[param].written) m_.Decorate(variable, spv::DecorationNonWritable);
    entry_.Uses(variable);
  }
  Id loaded = f_.Load(type, variable, 0);
  return image.has_sampler ? f_.Emit(spv::OpImage, plain, {loaded}) : loaded;
}

/// Axes of a buffer count from outside: the layer, z, y, x. A size has x first, and the layer last.
Id Images::Extent(uint32_t param, uint32_t axis) {
  FunctionBuilder::Head head(f_);
  const ir::ShaderImage& image = *entry_.ImageOf(param);
  uint32_t axes = entry_.TypeOfParameter(param).count;
  Id word = m_.types.Int(32), type = axes == 1 ? word : m_.types.Vector(word, axes);
  Id& size = sizes_[param];
  if (size == 0) {
    m_.AddCapability(spv::CapabilityImageQuery);
    Id loaded = Load(param);
    bool has_levels = image.is_sampled && !image.is_buffer;
    size = has_levels ? f_.Emit(spv::OpImageQuerySizeLod, type, {loaded, f_.Int(32, 0)})
                      : f_.Emit(spv::OpImageQuerySize, type, {loaded});
  }
  uint32_t coordinate = axes - 1 - axis;
  Id extent = axes == 1 ? size : f_.Emit(spv::OpCompositeExtract, word, {size, coordinate});
  return f_.Resize(extent, 32, entry_.Wide(), false);
}

Id MemoryEmitter::TexelPlace(ir::Inst inst) {
  std::vector<Id> parts;
  for (ir::Value index : kernel_.Indices(inst)) parts.push_back(values_.Position(index, 32));
  std::reverse(parts.begin(), parts.end());
  auto count = static_cast<uint32_t>(parts.size());
  if (count == 1) return parts[0];
  return f_.Emit(spv::OpCompositeConstruct, m_.types.Vector(m_.types.Int(32), count), parts);
}

Id MemoryEmitter::TexelAccess(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  uint32_t param = kernel_[kernel_.Operand(inst, 0)].number;
  const ir::ShaderImage& image = *environment_.entry.ImageOf(param);
  Scalar scalar = kernel_.TypeOf(kernel_.Operand(inst, 0)).scalar;
  Id number = environment_.images.TexelType(param), texel = m_.types.Vector(number, 4);
  auto as_texel = [&](Id value) {
    return scalar == Scalar::I32 ? f_.Emit(spv::OpBitcast, number, {value}) : value;
  };
  if (data.op != ir::Op::Load) {
    ADC_CHECK(data.op == ir::Op::StoreTexel, "an update of a texel reaches code generation");
    if (image.format == spv::ImageFormatUnknown)
      m_.AddCapability(spv::CapabilityStorageImageWriteWithoutFormat);
    std::vector<Id> parts;
    for (ir::Value v : kernel_.AccessValues(inst)) parts.push_back(as_texel(values_.Get(v)));
    Id whole = f_.Emit(spv::OpCompositeConstruct, texel, parts);
    f_.Do(spv::OpImageWrite, {environment_.images.Load(param), TexelPlace(inst), whole});
    return 0;
  }
  auto same_place = [&](ir::Inst other) {
    return std::equal(kernel_.Operands(inst).begin(), kernel_.Operands(inst).end(),
                      kernel_.Operands(other).begin(), kernel_.Operands(other).end());
  };
  if (!texel_of_.Valid() || texel_block_ != f_.Block() || !same_place(texel_of_)) {
    bool unknown = !image.is_sampled && image.format == spv::ImageFormatUnknown;
    if (unknown) m_.AddCapability(spv::CapabilityStorageImageReadWithoutFormat);
    Id loaded = environment_.images.Load(param), place = TexelPlace(inst);
    texel_ = !image.is_sampled ? f_.Emit(spv::OpImageRead, texel, {loaded, place})
             : image.is_buffer ? f_.Emit(spv::OpImageFetch, texel, {loaded, place})
                               : f_.Emit(spv::OpImageFetch, texel,
                                         {loaded, place, spv::ImageOperandsLodMask, f_.Int(32, 0)});
    texel_of_ = inst;
    texel_block_ = f_.Block();
  }
  Id part = f_.Emit(spv::OpCompositeExtract, number, {texel_, data.component});
  return scalar == Scalar::I32 ? f_.Emit(spv::OpBitcast, m_.types.Int(32), {part}) : part;
}

}  // namespace adc::codegen::spirv

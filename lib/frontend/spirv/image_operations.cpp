#include "frontend/spirv/image_operations.h"

#include "diag/errors/shader.h"

namespace adc::frontend::spirv {

namespace {

/// Where the operands of a mask begin that say how an image is read; 0: there are none.
size_t MaskAt(const Instruction& inst) {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpImageRead:
    case spv::OpImageFetch:
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageSampleExplicitLod:
      return 2;
    case spv::OpImageWrite:
    case spv::OpImageGather:
      return 3;
    default:
      return 0;
  }
}

}  // namespace

bool Images::LoadHandle(const Instruction& inst) {
  if (!types_.IsImage(inst.type) && types_.KindOf(inst.type) != spv::OpTypeSampler) return false;
  Pointer pointer = GetPointer(inst.At(0), inst);
  Require(pointer.kind == Pointer::Kind::Handle, inst, "an image is read from memory");
  frame().handles[inst.result] = {pointer.variable, pointer.variable};
  return true;
}

Handle Images::HandleOf(Id id, const Instruction& user) {
  auto found = frame().handles.find(id);
  Require(found != frame().handles.end(), user, "an image is used that nothing loads");
  return found->second;
}

Image Images::ImageOf(Id variable, const Instruction& user, const std::string& never_native) {
  Resource* resource = resources_.Find(variable);
  Require(resource != nullptr && !resource->units.empty(), user, "a sampler is used as an image");
  if (config_.native_images && !never_native.empty())
    Refuse(
        diag::E0854, user.span,
        never_native + " '" + resource->name + "', which --images=native leaves an image",
        "imageLoad, imageStore, texelFetch and their sizes are taken of it; leave --images=native out, and "
        "the kernel has a buffer of its texels");
  return {LayoutOfImage(types_, ImageTypeOf(types_, resource->block), config_.native_images, user.span),
          resource->units[0].param};
}

/// How a texture is read, by the name of its sampler.
SamplerState Images::SamplerOf(Id variable) const {
  std::string name(binary_.NameOf(variable));
  for (const auto& [wanted, state] : config_.samplers) {
    if (wanted == name || wanted.empty()) return state;
  }
  return {};
}

/// A constant, or a component of a vector that is made of constants.
bool Images::IsZero(ir::Value v) const {
  ir::Inst made = kernel_.DefiningInst(v);
  if (made.Valid() && kernel_[made].op == ir::Op::VecGet) {
    ir::Inst whole = kernel_.DefiningInst(kernel_.Operand(made, 0));
    std::optional<int64_t> component = kernel_.IntegerConstant(kernel_.Operand(made, 1));
    bool parts = whole.Valid() && kernel_[whole].op == ir::Op::VecMake && component && *component >= 0 &&
                 *component < kernel_[whole].operand_count;
    return parts && IsZero(kernel_.Operand(whole, static_cast<uint32_t>(*component)));
  }
  return kernel_.IsConstant(v) && kernel_.ConstantOf(v).bits == 0;
}

/// Refuses what is said beside level 0. The offset of texels, where there is one.
ir::Value Images::SampleOffset(const Instruction& inst) {
  size_t at = MaskAt(inst);
  if (at == 0 || inst.operands.size() <= at) return {};
  uint32_t mask = inst.At(at++);
  ir::Value offset;
  for (uint32_t bit = 1; bit <= mask; bit <<= 1) {
    if ((mask & bit) == 0) continue;
    if (bit == spv::ImageOperandsLodMask) {
      if (!IsZero(GetOne(inst.At(at++))))
        Refuse(diag::E0854, inst.span, "a level of detail other than 0",
               "an image has one level here: give each level a texture of its own");
    } else if (bit == spv::ImageOperandsConstOffsetMask || bit == spv::ImageOperandsOffsetMask) {
      offset = GetOne(inst.At(at++));
    } else if (bit == spv::ImageOperandsGradMask || bit == spv::ImageOperandsSampleMask) {
      Refuse(diag::E0854, inst.span, "a texture that is read with gradients or by samples",
             "read level 0: textureLod(t, place, 0.0)");
    } else if (bit == spv::ImageOperandsMakeTexelAvailableMask ||
               bit == spv::ImageOperandsMakeTexelVisibleMask) {
      ++at;
    }
  }
  return offset;
}

/// The first components of a vector that the result has.
ir::Value Images::FirstOf(ir::Value vector, Id type) {
  return b_.VectorOf(types_.Register(type).Components(),
                     [&](uint32_t n) { return b_.ComponentOf(vector, n); });
}

bool Images::ImageOperation(const Instruction& inst) {
  auto image = [&](const std::string& never_native = {}) {
    return ImageOf(HandleOf(inst.At(0), inst).image, inst, never_native);
  };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpSampledImage:
      frame().handles[inst.result] = {HandleOf(inst.At(0), inst).image, HandleOf(inst.At(1), inst).sampler};
      return true;
    case spv::OpImage:
      frame().handles[inst.result] = HandleOf(inst.At(0), inst);
      return true;
    case spv::OpImageRead:
    case spv::OpImageFetch: {
      Image read = image();
      ir::Value place = GetOne(inst.At(1));
      if (ir::Value offset = SampleOffset(inst); offset.Valid())
        place = b_.Make(ir::Op::Add, {place, offset});
      SetOne(inst, FirstOf(ImageBuilder(b_, read).Load(place, types_.Register(inst.type).scalar), inst.type));
      return true;
    }
    case spv::OpImageWrite: {
      Image written = image();
      SampleOffset(inst);
      ir::Value at = GetOne(inst.At(1)), texel = GetOne(inst.At(2));
      ImageBuilder(b_, written).Store(at, texel);
      return true;
    }
    case spv::OpImageSampleImplicitLod:
    case spv::OpImageSampleExplicitLod: {
      Image sampled = image("a filter reads");
      SamplerState state = SamplerOf(HandleOf(inst.At(0), inst).sampler);
      ir::Value offset = SampleOffset(inst);
      ir::Value texel = ImageBuilder(b_, sampled).Sample(GetOne(inst.At(1)), state, offset);
      SetOne(inst, FirstOf(texel, inst.type));
      return true;
    }
    case spv::OpImageGather: {
      Image sampled = image("texels are gathered of");
      SamplerState state = SamplerOf(HandleOf(inst.At(0), inst).sampler);
      std::optional<int64_t> component = types_.Integer(inst.At(2));
      Require(component && *component >= 0 && *component < 4, inst,
              "a component is gathered that no texel has");
      if (SampleOffset(inst).Valid()) Refuse(diag::E0854, inst.span, "texels that are gathered at an offset");
      SetOne(inst,
             ImageBuilder(b_, sampled).Gather(GetOne(inst.At(1)), static_cast<uint32_t>(*component), state));
      return true;
    }
    case spv::OpImageQuerySize:
    case spv::OpImageQuerySizeLod:
      if (inst.op == spv::OpImageQuerySizeLod && !IsZero(GetOne(inst.At(1))))
        image("the size of a level is asked of");
      SetOne(inst, ImageBuilder(b_, image()).Size());
      return true;
    case spv::OpImageQueryLevels:
      image("the number of levels is asked of");
      SetOne(inst, b_.I32(1));
      return true;
    case spv::OpImageTexelPointer: {
      Pointer pointer = GetPointer(inst.At(0), inst);
      Require(pointer.kind == Pointer::Kind::Handle, inst, "a texel of no image is named");
      pointer.pointee = types_.Element(inst.type);
      pointer.texel = GetOne(inst.At(1));
      frame().pointers[inst.result] = pointer;
      return true;
    }
    default:
      return false;
  }
}

Images::Place Images::TexelPlace(const Pointer& pointer, const Instruction& inst) {
  Image image = ImageOf(pointer.variable, inst, "an atomic operation changes a texel of");
  Require(pointer.texel.Valid() && image.layout.components == 1, inst,
          "an atomic operation on a texel of several numbers");
  Place place;
  place.array = image.buffer;
  place.scalar = image.layout.scalar;
  ImageBuilder builder(b_, image);
  ImageBuilder::Place texel = builder.PlaceOf(pointer.texel);
  place.inside = builder.IsInside(texel);
  place.indices = builder.IndicesOf(texel);
  return place;
}

}  // namespace adc::frontend::spirv

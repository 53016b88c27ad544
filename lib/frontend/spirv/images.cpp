#include "frontend/spirv/images.h"

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/bits.h"

namespace adc::frontend::spirv {

using ir::Op, ir::Scalar, ir::Type, ir::Value;

namespace {

struct Format {
  spv::ImageFormat format;
  Scalar scalar;
  uint32_t components;
  bool normalised;
};

constexpr Format kFormats[] = {
    {spv::ImageFormatRgba32f, Scalar::F32, 4, false},  {spv::ImageFormatRgba16f, Scalar::F16, 4, false},
    {spv::ImageFormatRg32f, Scalar::F32, 2, false},    {spv::ImageFormatRg16f, Scalar::F16, 2, false},
    {spv::ImageFormatR32f, Scalar::F32, 1, false},     {spv::ImageFormatR16f, Scalar::F16, 1, false},
    {spv::ImageFormatRgba8, Scalar::U8, 4, true},      {spv::ImageFormatRg8, Scalar::U8, 2, true},
    {spv::ImageFormatR8, Scalar::U8, 1, true},         {spv::ImageFormatRgba16, Scalar::U16, 4, true},
    {spv::ImageFormatRg16, Scalar::U16, 2, true},      {spv::ImageFormatR16, Scalar::U16, 1, true},
    {spv::ImageFormatRgba8Snorm, Scalar::I8, 4, true}, {spv::ImageFormatRg8Snorm, Scalar::I8, 2, true},
    {spv::ImageFormatR8Snorm, Scalar::I8, 1, true},    {spv::ImageFormatRgba16Snorm, Scalar::I16, 4, true},
    {spv::ImageFormatRg16Snorm, Scalar::I16, 2, true}, {spv::ImageFormatR16Snorm, Scalar::I16, 1, true},
    {spv::ImageFormatRgba32i, Scalar::I32, 4, false},  {spv::ImageFormatRg32i, Scalar::I32, 2, false},
    {spv::ImageFormatR32i, Scalar::I32, 1, false},     {spv::ImageFormatRgba16i, Scalar::I16, 4, false},
    {spv::ImageFormatRg16i, Scalar::I16, 2, false},    {spv::ImageFormatR16i, Scalar::I16, 1, false},
    {spv::ImageFormatRgba8i, Scalar::I8, 4, false},    {spv::ImageFormatRg8i, Scalar::I8, 2, false},
    {spv::ImageFormatR8i, Scalar::I8, 1, false},       {spv::ImageFormatRgba32ui, Scalar::U32, 4, false},
    {spv::ImageFormatRg32ui, Scalar::U32, 2, false},   {spv::ImageFormatR32ui, Scalar::U32, 1, false},
    {spv::ImageFormatRgba16ui, Scalar::U16, 4, false}, {spv::ImageFormatRg16ui, Scalar::U16, 2, false},
    {spv::ImageFormatR16ui, Scalar::U16, 1, false},    {spv::ImageFormatRgba8ui, Scalar::U8, 4, false},
    {spv::ImageFormatRg8ui, Scalar::U8, 2, false},     {spv::ImageFormatR8ui, Scalar::U8, 1, false},
};

[[noreturn]] void RefuseImage(diag::SourceSpan place, std::string what) {
  Refuse(diag::E0855, place, std::move(what) + " has no counterpart in a kernel",
         "docs/shaders.md lists the images that are taken; else pass the texels as a storage buffer");
}

}  // namespace

Type TexelLayout::Buffer() const {
  Type texel = components == 1 ? Type::Of(scalar) : Type::Vec(scalar, components);
  return Type::Buffer(texel, Indices());
}

const Instruction& ImageTypeOf(const Types& types, Id type) {
  return types.KindOf(type) == spv::OpTypeSampledImage ? types.Of(types.Element(type)) : types.Of(type);
}

ir::ShaderImage NativeImageOf(const Types& types, Id type) {
  const Instruction& image = ImageTypeOf(types, type);
  ir::ShaderImage native;
  native.dimension = image.At(1);
  native.has_layers = image.At(3) != 0;
  native.is_buffer = image.At(1) == spv::DimBuffer;
  native.is_sampled = image.At(5) == 1;
  native.format = image.At(6);
  native.has_sampler = types.KindOf(type) == spv::OpTypeSampledImage;
  return native;
}

TexelLayout LayoutOfImage(const Types& types, const Instruction& image, bool native, diag::SourceSpan place) {
  // Operands: sampled type, dimension, depth, arrayed, multisampled, sampled, format.
  TexelLayout layout;
  switch (image.At(1)) {
    case spv::Dim1D:
    case spv::DimBuffer:
      layout.axes = 1;
      break;
    case spv::Dim2D:
    case spv::DimRect:
      layout.axes = 2;
      break;
    case spv::Dim3D:
      layout.axes = 3;
      break;
    default:
      RefuseImage(place, "a cube map or an attachment of a pass");
  }
  if (image.At(2) == 1) RefuseImage(place, "a shadow map");
  if (image.At(4) != 0) RefuseImage(place, "an image of several samples");
  layout.has_layers = image.At(3) != 0;
  if (native) {
    if (image.At(1) == spv::DimRect) RefuseImage(place, "a rectangle of OpenGL's, as an image,");
    layout.is_native = true;
    layout.scalar = types.MemoryScalar(image.At(0));
    if (ir::ByteSize(layout.scalar) != 4) RefuseImage(place, "an image whose numbers do not have 32 bits");
    return layout;
  }
  auto format = static_cast<spv::ImageFormat>(image.At(6));
  if (format == spv::ImageFormatUnknown) {
    layout.scalar = types.MemoryScalar(image.At(0));
    return layout;
  }
  const Format* known = std::ranges::find(kFormats, format, &Format::format);
  if (known == std::end(kFormats)) RefuseImage(place, "an image with packed texels");
  layout.scalar = known->scalar;
  layout.components = known->components;
  layout.normalised = known->normalised;
  return layout;
}

std::string TakeSampler(std::string_view words, SamplerState* state) {
  while (!words.empty()) {
    size_t comma = std::min(words.find(','), words.size());
    std::string_view word = words.substr(0, comma);
    words.remove_prefix(std::min(comma + 1, words.size()));
    if (word == "linear" || word == "nearest") {
      state->linear = word == "linear";
    } else if (word == "clamp") {
      state->wrap = Wrap::Clamp;
    } else if (word == "repeat") {
      state->wrap = Wrap::Repeat;
    } else if (word == "mirror") {
      state->wrap = Wrap::Mirror;
    } else if (word == "border") {
      state->wrap = Wrap::Border;
    } else {
      return "'" + std::string(word) + "' is none of linear, nearest, clamp, repeat, mirror, border";
    }
  }
  return {};
}

/// Of axis x, y, z or the layer, as a coordinate counts them; the buffer counts from outside.
Value ImageBuilder::Extent(uint32_t axis) {
  const TexelLayout& layout = image_.layout;
  uint32_t outer = layout.has_layers ? 1 : 0;
  uint32_t at = axis == layout.axes ? 0 : outer + layout.axes - 1 - axis;
  return b_.Shape(image_.buffer, at);
}

Value ImageBuilder::Size() {
  return b_.VectorOf(image_.layout.Indices(), [&](uint32_t axis) { return Extent(axis); });
}

ImageBuilder::Place ImageBuilder::PlaceOf(Value coordinate) {
  Place place;
  for (uint32_t n = 0; n < image_.layout.Indices(); ++n)
    place.push_back(b_.Cast(b_.ComponentOf(coordinate, n), ir::kI32));
  return place;
}

std::vector<Value> ImageBuilder::IndicesOf(const Place& place) {
  std::vector<Value> indices;
  if (image_.layout.has_layers) indices.push_back(place.back());
  for (uint32_t n = image_.layout.axes; n-- > 0;) indices.push_back(place[n]);
  return indices;
}

// ---- Texels

Value ImageBuilder::FromMemory(Value component, Scalar texel) {
  Scalar memory = image_.layout.scalar;
  Value value = b_.Cast(component, Type::Of(texel));
  if (!image_.layout.normalised) return value;
  return FromNormalised(b_, value, ir::BitWidth(memory), ir::IsSigned(memory));
}

Value ImageBuilder::ToMemory(Value component) {
  Scalar memory = image_.layout.scalar;
  if (image_.layout.normalised)
    component = ToNormalised(b_, component, ir::BitWidth(memory), ir::IsSigned(memory));
  return b_.Cast(component, Type::Of(memory));
}

/// An unsigned comparison sees a negative index as too large.
Value ImageBuilder::IsInside(const Place& place) {
  Value inside;
  for (uint32_t n = 0; n < place.size(); ++n) {
    Type wide = Type::Of(Scalar::U32);
    Value one = b_.Make(Op::Lt, {b_.Cast(place[n], wide), b_.Cast(Extent(n), wide)});
    inside = inside.Valid() ? b_.Make(Op::And, {inside, one}) : one;
  }
  return inside;
}

Value ImageBuilder::TexelAt(const Place& place, Scalar texel) {
  Value loaded = b_.Load(image_.buffer, IndicesOf(place));
  Value one = ir::IsFloat(texel) ? b_.Float(Type::Of(texel), 1) : b_.Int(Type::Of(texel), 1);
  return b_.VectorOf(4, [&](uint32_t n) {
    if (n < image_.layout.components) return FromMemory(b_.ComponentOf(loaded, n), texel);
    return n == 3 ? one : b_.Zero(Type::Of(texel));
  });
}

Value ImageBuilder::LoadInside(const Place& place, Scalar texel) {
  Type type = Type::Vec(texel, 4);
  Value inside = IsInside(place);
  return b_.Choose(
      inside, type, [&] { return TexelAt(place, texel); },
      [&] { return b_.Splat(b_.Zero(Type::Of(texel)), type); });
}

Value ImageBuilder::Load(Value coordinate, Scalar texel) {
  Place place = PlaceOf(coordinate);
  return image_.layout.is_native ? TexelAt(place, texel) : LoadInside(place, texel);
}

void ImageBuilder::Store(Value coordinate, Value texel) {
  Place place = PlaceOf(coordinate);
  if (image_.layout.is_native) {
    std::vector<Value> all;
    for (uint32_t n = 0; n < image_.layout.components; ++n) {
      bool given = n < std::max(1u, b_.TypeOf(texel).Components());
      all.push_back(given ? ToMemory(b_.ComponentOf(texel, n)) : b_.Zero(Type::Of(image_.layout.scalar)));
    }
    b_.Access(Op::StoreTexel, image_.buffer, IndicesOf(place), all);
    return;
  }
  b_.When(IsInside(place), [&] {
    Value value =
        b_.VectorOf(image_.layout.components, [&](uint32_t n) { return ToMemory(b_.ComponentOf(texel, n)); });
    b_.Access(Op::Store, image_.buffer, IndicesOf(place), {&value, 1});
  });
}

// ---- Sampling

Value ImageBuilder::Wrapped(Value index, Value extent, Wrap wrap) {
  Value last = b_.Make(Op::Sub, {extent, b_.I32(1)});
  switch (wrap) {
    case Wrap::Clamp:
      return b_.Make(Op::Min, {b_.Make(Op::Max, {index, b_.I32(0)}), last});
    case Wrap::Repeat:
      return b_.Make(Op::Mod, {index, extent});
    case Wrap::Mirror: {
      Value twice = b_.Make(Op::Mul, {extent, b_.I32(2)});
      Value once = b_.Make(Op::Mod, {index, twice});
      Value back = b_.Make(Op::Sub, {b_.Make(Op::Sub, {twice, b_.I32(1)}), once});
      return b_.Make(Op::Select, {b_.Make(Op::Lt, {once, extent}), once, back});
    }
    case Wrap::Border:
      break;
  }
  return index;
}

ImageBuilder::Corner ImageBuilder::CornerOf(Value coordinate, bool linear, Value offset) {
  Corner corner;
  for (uint32_t n = 0; n < image_.layout.axes; ++n) {
    Value part = b_.ComponentOf(coordinate, n);
    Type type = b_.TypeOf(part);
    Value at = b_.Make(Op::Mul, {part, b_.Cast(Extent(n), type)});
    if (linear) at = b_.Make(Op::Sub, {at, b_.Float(type, 0.5)});
    Value whole = b_.Make(Op::Floor, {at});
    Value index = b_.Cast(whole, ir::kI32);
    if (offset.Valid()) index = b_.Make(Op::Add, {index, b_.Cast(b_.ComponentOf(offset, n), ir::kI32)});
    corner.first.push_back(index);
    if (linear) corner.fractions.push_back(b_.Make(Op::Sub, {at, whole}));
  }
  if (image_.layout.has_layers) {
    Value layer = b_.Cast(b_.Make(Op::Round, {b_.ComponentOf(coordinate, image_.layout.axes)}), ir::kI32);
    corner.first.push_back(Wrapped(layer, Extent(image_.layout.axes), Wrap::Clamp));
  }
  return corner;
}

/// The texel of a corner: bit n of `which` says that it is the next one along axis n.
Value ImageBuilder::At(const Corner& corner, uint32_t which, const SamplerState& state) {
  Place place = corner.first;
  for (uint32_t n = 0; n < image_.layout.axes; ++n) {
    if ((which >> n & 1) != 0) place[n] = b_.Make(Op::Add, {place[n], b_.I32(1)});
    place[n] = Wrapped(place[n], Extent(n), state.wrap);
  }
  return state.wrap == Wrap::Border ? LoadInside(place, Scalar::F32) : TexelAt(place, Scalar::F32);
}

Value ImageBuilder::Sample(Value coordinate, const SamplerState& state, Value offset) {
  Corner corner = CornerOf(coordinate, state.linear, offset);
  if (!state.linear) return At(corner, 0, state);
  std::vector<Value> values;
  for (uint32_t which = 0; which < (1u << image_.layout.axes); ++which)
    values.push_back(At(corner, which, state));
  // Neighbours along x first, then along y, then along z.
  for (uint32_t n = 0; n < image_.layout.axes; ++n) {
    std::vector<Value> mixed;
    for (size_t at = 0; at < values.size(); at += 2) {
      Value step = b_.Make(Op::Mul, {b_.Make(Op::Sub, {values[at + 1], values[at]}), corner.fractions[n]});
      mixed.push_back(b_.Make(Op::Add, {values[at], step}));
    }
    values = std::move(mixed);
  }
  return values[0];
}

Value ImageBuilder::Gather(Value coordinate, uint32_t component, const SamplerState& state) {
  Corner corner = CornerOf(coordinate, true, {});
  std::vector<Value> parts;
  for (uint32_t which : {2u, 3u, 1u, 0u})
    parts.push_back(b_.ComponentOf(At(corner, which, state), component));
  return b_.MakeVector(parts);
}

}  // namespace adc::frontend::spirv

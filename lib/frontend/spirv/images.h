#pragma once
// Images and textures as buffers of texels, row by row; what samples them is written out.

#include "frontend/spirv/builder.h"
#include "frontend/spirv/sampler_state.h"
#include "frontend/spirv/types.h"
#include "ir/shader_binding.h"

namespace adc::frontend::spirv {

/// A shader's statement about the texels of an image, and about its axes.
struct TexelLayout {
  ir::Scalar scalar = ir::Scalar::F32;  ///< in memory
  uint32_t components = 4;
  bool normalised = false;  ///< integers that stand for 0 to 1, or for -1 to 1 where they have a sign
  uint32_t axes = 2;        ///< of the coordinate, without the layer
  bool has_layers = false;
  bool is_native = false;  ///< the kernel has the image, and the device converts numbers: a texel has four

  /// That name a texel: axes and layer.
  uint32_t Indices() const { return axes + (has_layers ? 1 : 0); }
  /// Axes from outside: layer, z, y, x.
  ir::Type Buffer() const;
};

/// The layout that a type of an image states, a sampled one has four f32; refuses what kernels do not have,
/// at `place`. `native`: of an image that stays one.
TexelLayout LayoutOfImage(const Types& types, const Instruction& image, bool native, diag::SourceSpan place);
/// A statement of code about an image that stays one. `type`: of the image, or of the image with its sampler.
ir::ShaderImage NativeImageOf(const Types& types, Id type);
/// The type of the image in a type of an image with its sampler.
const Instruction& ImageTypeOf(const Types& types, Id type);

/// An image in a kernel.
struct Image {
  TexelLayout layout;
  ir::Value buffer;
};

/// Writes what shaders do with images. Coordinates are vectors or a number, as SPIR-V has them, layer last.
class ImageBuilder {
 public:
  ImageBuilder(KernelBuilder& builder, const Image& image) : b_(builder), image_(image) {}

  /// Four components, of `texel`'s scalar; zeros outside of the image, but of a native one what the device
  /// gives.
  ir::Value Load(ir::Value coordinate, ir::Scalar texel);
  /// Nothing outside of the image.
  void Store(ir::Value coordinate, ir::Value texel);
  /// Of the only level there is; `offset`: texels, may be invalid.
  ir::Value Sample(ir::Value coordinate, const SamplerState& state, ir::Value offset);
  /// The four texels around a place, of one component: as textureGather orders them.
  ir::Value Gather(ir::Value coordinate, uint32_t component, const SamplerState& state);
  /// Extents, x first, layers last.
  ir::Value Size();
  using Place = std::vector<ir::Value>;  ///< an i32 per axis, x first, layer last
  Place PlaceOf(ir::Value coordinate);
  ir::Value IsInside(const Place& place);
  /// The indices of a texel, outermost first.
  std::vector<ir::Value> IndicesOf(const Place& place);

 private:
  ir::Value Extent(uint32_t axis);
  ir::Value TexelAt(const Place& place, ir::Scalar texel);
  ir::Value LoadInside(const Place& place, ir::Scalar texel);
  ir::Value Wrapped(ir::Value index, ir::Value extent, Wrap wrap);
  ir::Value FromMemory(ir::Value component, ir::Scalar texel);
  ir::Value ToMemory(ir::Value component);
  /// Of the corner with the smallest indices, and how far the place lies from it; fractions where linear.
  struct Corner {
    Place first;
    std::vector<ir::Value> fractions;
  };
  Corner CornerOf(ir::Value coordinate, bool linear, ir::Value offset);
  ir::Value At(const Corner& corner, uint32_t which, const SamplerState& state);

  KernelBuilder& b_;
  const Image& image_;
};

}  // namespace adc::frontend::spirv

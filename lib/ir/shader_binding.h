#pragma once
// Where the shader that a kernel was read from has its parameters: sets and bindings, offsets and strides. A
// host program that ran the shader finds them there, and code made of the kernel may keep them there.

#include <cstdint>
#include <optional>
#include <string>

namespace adc::ir {

/// An image that a kernel has as its shader has it; dimension and format are SPIR-V's numbers. The parameter
/// is a buffer of vectors of four, by which the image is read and written.
struct ShaderImage {
  uint32_t dimension = 0, format = 0;
  bool has_layers = false;
  bool is_buffer = false;    ///< a buffer of texels
  bool is_sampled = false;   ///< a texture, which is only read
  bool has_sampler = false;  ///< a texture that is bound with its sampler
};

struct ShaderBinding {
  enum class Kind : uint8_t {
    StorageBuffer,  ///< a buffer parameter
    UniformBuffer,  ///< a buffer parameter, or a scalar, vector or matrix at `offset`
    PushConstant,   ///< a scalar, vector or matrix at `offset`
    SpecConstant,   ///< a scalar with the number `number`
    Invocations,    ///< an i32: workgroups times their size along axis `number` (0: x)
  };
  Kind kind = Kind::StorageBuffer;
  bool by_pointer = false;           ///< StorageBuffer: the block of this set and binding holds its address
  bool is_image = false;             ///< the shader has an image there, and the kernel a buffer of its texels
  std::optional<ShaderImage> image;  ///< is_image: the kernel has the image too
  uint32_t set = 0, binding = 0;
  uint32_t number = 0;
  uint32_t offset = 0;         ///< bytes from the start of the block; Invocations: size of a workgroup
  uint32_t matrix_stride = 0;  ///< bytes from one column (or row) to the next
  bool row_major = false;
  /// Extents of a buffer parameter of a block of `fixed_bytes` bytes, after which `element_stride` bytes
  /// repeat as often as the bound memory holds; 0: none do.
  uint32_t fixed_bytes = 0;
  uint32_t element_stride = 0;
  uint32_t row_bytes = 0;     ///< of a buffer of rank 1 or 2 that is one array: from element to element
  uint64_t default_bits = 0;  ///< of a specialisation constant
  std::string block;          ///< its name in the shader
};

}  // namespace adc::ir

#pragma once
// Where the shader that a kernel was read from has its parameters: sets and bindings, offsets and strides. A
// host program that ran the shader finds them there, and code made of the kernel may keep them there.

#include <cstdint>
#include <string>

namespace adc::ir {

struct ShaderBinding {
  enum class Kind : uint8_t {
    StorageBuffer,  ///< a buffer parameter
    UniformBuffer,  ///< a buffer parameter, or a scalar, vector or matrix at `offset`
    PushConstant,   ///< a scalar, vector or matrix at `offset`
    SpecConstant,   ///< a scalar with the number `number`
    Invocations,    ///< an i32: workgroups times their size along axis `number` (0: x)
  };
  Kind kind = Kind::StorageBuffer;
  bool by_pointer = false;  ///< StorageBuffer: the block of this set and binding holds its address
  bool is_image = false;    ///< the shader has an image there, and the kernel a buffer of its texels
  uint32_t set = 0, binding = 0;
  uint32_t number = 0;
  uint32_t offset = 0;         ///< bytes from the start of the block; Invocations: size of a workgroup
  uint32_t matrix_stride = 0;  ///< bytes from one column (or row) to the next
  bool row_major = false;
  /// Extents of a buffer parameter of a block of `fixed_bytes` bytes, behind which `element_stride` bytes
  /// repeat as often as the bound memory holds; 0: none do.
  uint32_t fixed_bytes = 0;
  uint32_t element_stride = 0;
  uint32_t row_bytes = 0;     ///< of a buffer of rank 1 or 2 that is one array: from element to element
  uint64_t default_bits = 0;  ///< of a specialisation constant
  std::string block;          ///< its name in the shader
};

}  // namespace adc::ir

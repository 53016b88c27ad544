#pragma once
// Where the parameters of a kernel that was read from a shader lie in code that a host program binds without
// the loader: those of the shader where the shader has them, the others in a set of their own.

#include <string>
#include <vector>

#include "diag/result.h"
#include "ir/function.h"
#include "ir/shader_binding.h"

namespace adc::codegen {

struct DescriptorPlace {
  uint32_t set = 0, binding = 0;
};

/// The descriptors of one kernel.
struct ShaderLayout {
  std::vector<DescriptorPlace> params;  ///< of buffers, by position; of values that of their block
  DescriptorPlace words;  ///< of adstacks: artifact/gpu_abi.h, group words and stack words alone
  DescriptorPlace heap;
  DescriptorPlace status;
  uint32_t local_size[3] = {1, 1, 1};
  bool axes[3] = {false, false, false};  ///< along which invocations differ
};

/// The first set after those of the shader.
uint32_t DefaultAdjointSet(const ir::Module& module);

/// Companions and parameters that passes add take the bindings of `adjoint_set` in their order, then come
/// words, heap and status.
ShaderLayout ShaderLayoutOf(const ir::Module& module, const ir::Function& kernel, uint32_t adjoint_set);

/// Ok, or why the bindings of the shader cannot stay as they are.
diag::Status CanKeepBindings(const ir::Module& module, const ir::Function& kernel, uint32_t adjoint_set);

/// Bytes of component `component` of a value after the start of its block, row by row as the IR counts.
uint32_t ComponentOffset(const ir::ShaderBinding& binding, ir::Type type, uint32_t component);

/// Bytes of push constants up to the end of the last value that the kernel has in them; 0: it has none.
uint32_t PushConstantBytes(const ir::Module& module, const ir::Function& kernel);

}  // namespace adc::codegen

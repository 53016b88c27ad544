#include "codegen/common/shader_layout.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "diag/errors/codegen.h"
#include "ir/module.h"

namespace adc::codegen {

using Kind = ir::ShaderBinding::Kind;

namespace {

/// The binding that the shader states for a parameter; null for one that the shader does not have.
const ir::ShaderBinding* BindingOf(const ir::Module& module, const ir::ParamInfo& info) {
  return info.shader_binding == ir::kNoAttr ? nullptr : &module.shader_bindings[info.shader_binding];
}

}  // namespace

uint32_t DefaultAdjointSet(const ir::Module& module) {
  uint32_t set = 0;
  for (const ir::ShaderBinding& binding : module.shader_bindings) {
    if (binding.kind == Kind::StorageBuffer || binding.kind == Kind::UniformBuffer)
      set = std::max(set, binding.set + 1);
  }
  return set;
}

ShaderLayout ShaderLayoutOf(const ir::Module& module, const ir::Function& kernel, uint32_t adjoint_set) {
  ShaderLayout layout;
  uint32_t next = 0;
  for (uint32_t n = 0; n < kernel.params.size(); ++n) {
    const ir::ShaderBinding* binding = BindingOf(module, kernel.params[n]);
    if (binding == nullptr) {
      layout.params.push_back({adjoint_set, next++});
      continue;
    }
    layout.params.push_back({binding->set, binding->binding});
    if (binding->kind != Kind::Invocations) continue;
    layout.axes[binding->number] = true;
    layout.local_size[binding->number] = binding->offset;
  }
  layout.words = {adjoint_set, next};
  layout.heap = {adjoint_set, next + 1};
  layout.status = {adjoint_set, next + 2};
  return layout;
}

diag::Status CanKeepBindings(const ir::Module& module, const ir::Function& kernel, uint32_t adjoint_set) {
  auto name = [&](uint32_t param) { return std::string(module.Text(kernel[kernel.Params()[param]].name)); };
  std::map<std::pair<uint32_t, uint32_t>, std::tuple<Kind, std::string, uint32_t>> taken;
  for (uint32_t n = 0; n < kernel.params.size(); ++n) {
    const ir::ShaderBinding* binding = BindingOf(module, kernel.params[n]);
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    bool memory = type.IsBuffer() || type.IsLayout();
    if (binding == nullptr) {
      if (memory) continue;
      return diag::Fail(diag::E0622, kernel.span,
                        "'" + name(n) + "' of '" + std::string(module.Text(kernel.name)) +
                            "' is a number that the loader chooses at each launch",
                        "leave --checkpoint out, or write a bundle, which the loader runs");
    }
    if (memory && binding->kind == Kind::UniformBuffer && ir::ByteSize(type.scalar) != 4)
      return diag::Fail(
          diag::E0622, kernel.params[n].span,
          "'" + name(n) + "' is an array in a uniform block of numbers that do not take 32 bits",
          "put the array into a storage buffer, or write a bundle, which the loader runs");
    if (binding->is_image && !binding->image)
      return diag::Fail(diag::E0622, kernel.params[n].span,
                        "'" + name(n) + "' is an image, and kernels have a buffer in its place",
                        "--images=native keeps it in the forward kernel; a bundle has kernel and gradient, "
                        "which the loader runs on buffers");
    bool described = binding->kind == Kind::StorageBuffer || binding->kind == Kind::UniformBuffer;
    if (!memory && (described || binding->kind == Kind::PushConstant) && ir::ByteSize(type.scalar) < 4)
      return diag::Fail(diag::E0622, kernel.params[n].span,
                        "'" + name(n) + "' is a value of less than 32 bits, which cannot keep its place",
                        "widen it to 32 bits, or write a bundle, which the loader runs");
    if (!described) continue;
    if (binding->by_pointer)
      return diag::Fail(diag::E0622, kernel.params[n].span,
                        "'" + name(n) + "' is memory that a pointer leads to, which has no binding",
                        "declare a storage buffer, or write a bundle, which the loader runs");
    if (binding->set == adjoint_set)
      return diag::Fail(diag::E0622, kernel.params[n].span,
                        "the shader has '" + name(n) + "' in set " + std::to_string(adjoint_set) +
                            ", which --adjoint-set names",
                        "name a set that the shader does not use");
    auto [place, fresh] =
        taken.try_emplace({binding->set, binding->binding}, std::tuple(binding->kind, binding->block, n));
    if (!fresh &&
        (std::get<0>(place->second) != binding->kind || std::get<1>(place->second) != binding->block))
      return diag::Fail(diag::E0622, kernel.params[n].span,
                        "'" + std::get<1>(place->second) + "' and '" + binding->block +
                            "' have one binding, " + std::to_string(binding->binding) + " of set " +
                            std::to_string(binding->set),
                        "give each a binding of its own: layout(binding = N), [[vk::binding(N)]]");
  }
  return diag::Unit{};
}

uint32_t ComponentOffset(const ir::ShaderBinding& binding, ir::Type type, uint32_t component) {
  uint32_t bytes = ir::ByteSize(type.scalar);
  if (!type.IsMat()) return binding.offset + component * bytes;
  uint32_t row = component / type.columns, column = component % type.columns;
  return binding.offset + (binding.row_major ? row * binding.matrix_stride + column * bytes
                                             : column * binding.matrix_stride + row * bytes);
}

uint32_t PushConstantBytes(const ir::Module& module, const ir::Function& kernel) {
  uint32_t end = 0;
  for (uint32_t n = 0; n < kernel.params.size(); ++n) {
    const ir::ShaderBinding* binding = BindingOf(module, kernel.params[n]);
    if (binding == nullptr || binding->kind != Kind::PushConstant) continue;
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    for (uint32_t part = 0; part < type.Components(); ++part)
      end = std::max(end, ComponentOffset(*binding, type, part) + ir::ByteSize(type.scalar));
  }
  return end;
}

}  // namespace adc::codegen

#include "codegen/spirv/entry.h"

namespace adc::codegen::spirv {

Id ModuleContext::Input(spv::BuiltIn builtin, Id type, const char* name) {
  Id& variable = inputs[builtin];
  if (variable != 0) return variable;
  variable = module.GlobalVariable(spv::StorageClassInput, type);
  module.Decorate(variable, spv::DecorationBuiltIn, {static_cast<uint32_t>(builtin)});
  module.Name(variable, name);
  return variable;
}

const ir::ShaderBinding* Entry::ShaderBindingOf(uint32_t param) const {
  uint32_t binding = kernel.params[param].shader_binding;
  return KeepsBindings() && binding != ir::kNoAttr ? &context.ir.shader_bindings[binding] : nullptr;
}

const ir::ShaderImage* Entry::ImageOf(uint32_t param) const {
  const ir::ShaderBinding* binding = ShaderBindingOf(param);
  return binding != nullptr && binding->image ? &*binding->image : nullptr;
}

bool Entry::IsUniform(uint32_t param) const {
  const ir::ShaderBinding* binding = ShaderBindingOf(param);
  return binding != nullptr && binding->kind == ir::ShaderBinding::Kind::UniformBuffer;
}

Storage Entry::StorageFor(uint32_t param, ir::Scalar scalar) const {
  Storage natural = NaturalStorage(scalar);
  return uses[param].as_words.count(natural) != 0 ? WordStorage(scalar) : natural;
}

Id Entry::Shared(Id element, uint32_t length) {
  ModuleBuilder& m = context.module;
  Id type = m.types.Array(element, length);
  auto [place, fresh] = context.shared.try_emplace({type, shared[type]++}, 0);
  if (fresh) {
    place->second = m.GlobalVariable(spv::StorageClassWorkgroup, type);
    m.Name(place->second, "adc.shared");
  }
  Uses(place->second);
  return place->second;
}

}  // namespace adc::codegen::spirv

#include "autodiff/derived.h"

#include <string>
#include <unordered_set>

#include "ir/module.h"

namespace adc::autodiff {

using ir::Function, ir::Module, ir::ParamInfo, ir::ParamRole, ir::Type, ir::Value;

DerivedKernel MakeDerivedKernel(Module& module, const Function& kernel, std::string_view suffix,
                                std::string_view companion, ParamRole role, ir::KernelRole kernel_role,
                                const DiffParameters& parameters, ScopedMap& values, uint32_t directions) {
  std::string name = std::string(module.Text(kernel.name)) + "." + std::string(suffix);
  Function& derived = module.AddFunction(ir::FunctionKind::Kernel, module.Intern(name));
  derived.role = kernel_role;
  derived.derived_from = kernel.name;
  derived.span = kernel.span;

  DerivedKernel result;
  result.function = &derived;
  result.companions.resize(size_t{directions} * kernel.params.size());
  std::vector<uint32_t> position(kernel.params.size(), ir::kNoAttr);
  auto copy_parameters = [&](bool hidden) {
    for (uint32_t n = 0; n < kernel.params.size(); ++n) {
      ParamRole own = kernel.params[n].role;
      bool by_launch = own == ParamRole::Scratch || own == ParamRole::Segment || own == ParamRole::Trips;
      if (by_launch != hidden) continue;
      ParamInfo info = kernel.params[n];
      info.diff = false;
      if (info.companion_of != ir::kNoAttr) info.companion_of = position[info.companion_of];
      position[n] = static_cast<uint32_t>(derived.params.size());
      Value param = kernel.Params()[n];
      values.Set(param.raw, derived.AddParameter(kernel.TypeOf(param), kernel[param].name, info));
    }
  };
  std::unordered_set<std::string> taken;
  for (Value param : kernel.Params()) taken.emplace(module.Text(kernel[param].name));
  auto add_companions = [&](bool scratch) {
    for (uint32_t n = 0; n < kernel.params.size(); ++n) {
      const ParamInfo& source = kernel.params[n];
      if (!parameters.is_diff[n] || (source.role == ParamRole::Scratch) != scratch) continue;
      Value param = kernel.Params()[n];
      Type type = kernel.TypeOf(param);
      if (type.IsRegister()) type = Type::Buffer(type, 0);
      for (uint32_t direction = 0; direction < directions; ++direction) {
        std::string companion_name =
            std::string(module.Text(kernel[param].name)) + "." + std::string(companion);
        if (directions > 1) companion_name += std::to_string(direction);
        // A parameter of the user's may have this name already.
        while (taken.contains(companion_name)) companion_name += '_';
        ParamInfo info;
        info.alias = source.alias;
        info.interleaved = source.interleaved;
        info.role = scratch ? ParamRole::Scratch : role;
        info.companion_of = scratch ? ir::kNoAttr : position[n];
        info.span = source.span;
        result.companions[direction * kernel.params.size() + n] =
            derived.AddParameter(type, module.Intern(companion_name), info);
      }
    }
  };
  copy_parameters(false);
  add_companions(false);
  copy_parameters(true);
  add_companions(true);
  return result;
}

NameGiver::NameGiver(Module& module, Function& function) : module_(module), function_(function) {
  for (Value param : function.Params()) taken_[function[param].name] = 1;
}

void NameGiver::Name(Value v, std::string_view prefix, const Function& primal, Value of) {
  StringId name = primal[of].name;
  if (!name.Valid()) return;
  std::string_view text = module_.Text(name);
  // A bare number is the printer's business.
  if (text.find_first_not_of("0123456789") == std::string_view::npos) return;
  Name(v, std::string(prefix) + std::string(text));
}

void NameGiver::Name(Value v, std::string_view name) {
  ir::ValueData& data = function_[v];
  if (data.name.Valid() || data.kind == ir::ValueKind::Constant || data.kind == ir::ValueKind::Global) return;
  StringId id = module_.Intern(name);
  uint32_t& uses = taken_[id];
  std::string base(name);
  while (uses != 0) {
    id = module_.Intern(base + "." + std::to_string(uses++));
    if (!taken_.contains(id)) break;
  }
  ++taken_[id];
  data.name = id;
}

}  // namespace adc::autodiff

#include "transform/axes.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/module.h"

namespace adc::transform {

namespace {

/// Removes parameter `position` of a block.
void EraseParam(ir::Function& function, ir::Block block, uint32_t position) {
  std::vector<ir::Value>& params = function[block].params;
  params.erase(params.begin() + position);
  for (uint32_t n = position; n < params.size(); ++n) function[params[n]].number = n;
}

/// Whether a launch says how many invocations there are along an axis that the shader need not ask for.
bool MayBeOne(const ir::Module& module, const ir::ParamInfo& info) {
  if (info.shader_binding == ir::kNoAttr) return false;
  const ir::ShaderBinding& binding = module.shader_bindings[info.shader_binding];
  uint32_t local_size = binding.offset;
  return binding.kind == ir::ShaderBinding::Kind::Invocations && binding.number != 0 && local_size == 1;
}

void DropAxesOf(const ir::Module& module, ir::Function& kernel) {
  analysis::Uses uses(kernel);
  for (auto position = static_cast<uint32_t>(kernel.params.size()); position-- > 0;) {
    std::span<const analysis::Use> found = uses.Of(kernel.Params()[position]);
    if (!MayBeOne(module, kernel.params[position]) || found.size() != 1) continue;
    ir::Inst loop = found[0].inst;
    if (kernel[loop].op != ir::Op::Parallel) continue;
    std::vector<ir::Value> bounds(kernel.Operands(loop).begin(), kernel.Operands(loop).end());
    auto high = static_cast<uint32_t>(std::find(bounds.begin(), bounds.end(), kernel.Params()[position]) -
                                      bounds.begin());
    ir::Block body = kernel[loop].regions[0];
    if (uses.IsUsed(kernel[body].params[high / 2])) continue;
    bounds.erase(bounds.begin() + high - 1, bounds.begin() + high + 1);
    kernel.SetOperands(loop, bounds);
    EraseParam(kernel, body, high / 2);
    EraseParam(kernel, kernel.Body(), position);
    kernel.params.erase(kernel.params.begin() + position);
  }
}

}  // namespace

void DropAxes(ir::Module& module) {
  for (const std::unique_ptr<ir::Function>& function : module.functions) {
    if (function->IsKernel()) DropAxesOf(module, *function);
  }
}

}  // namespace adc::transform

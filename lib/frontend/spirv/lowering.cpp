#include "frontend/spirv/lowering.h"

#include "frontend/spirv/control_flow.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

void LowerEntry(const Request& request, Survey& survey, ir::Module& module, const std::string& name,
                std::vector<std::string>* names) {
  Attempt attempt;
  size_t bindings = module.shader_bindings.size();
  StringId kernel_name = module.Intern(name);
  ir::Function* kernel = &module.AddFunction(ir::FunctionKind::Kernel, kernel_name);
  for (;;) {
    kernel->span = survey.body().definition->span;
    Resources resources(request.types, module, *kernel, request.config.parameters);
    resources.Add(survey.resources(), survey.pointed());
    if (names != nullptr) *names = resources.names();
    survey.FindOrder(resources.all());
    ControlFlow(request, survey, module, *kernel, resources, attempt).EmitKernel();
    size_t before = attempt.has_slot.size();
    attempt.has_slot.merge(attempt.needs_slot);
    if (attempt.has_slot.size() == before) return;
    attempt.needs_slot.clear();
    module.shader_bindings.resize(bindings);
    auto again = std::make_unique<ir::Function>(ir::FunctionKind::Kernel, kernel_name);
    kernel = again.get();
    module.Replace(std::move(again));
  }
}

}  // namespace adc::frontend::spirv

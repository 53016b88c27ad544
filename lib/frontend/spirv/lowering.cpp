#include "frontend/spirv/lowering.h"

#include "frontend/spirv/control_flow.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

void LowerEntry(const Request& request, ir::Module& module, const std::string& name,
                std::vector<std::string>* names) {
  Survey survey(request);
  ir::Function& kernel = module.AddFunction(ir::FunctionKind::Kernel, module.Intern(name));
  kernel.span = survey.body().definition->span;
  Resources resources(request.types, module, kernel, request.config.parameters);
  resources.Add(survey.resources(), survey.pointed());
  *names = resources.names();
  survey.FindOrder(resources.all());
  ControlFlow(request, survey, module, kernel, resources).EmitKernel();
}

}  // namespace adc::frontend::spirv

#include "codegen/spirv/tools.h"

#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>

#include "support/check.h"

namespace adc::codegen::spirv {
namespace {

spv_target_env EnvironmentOf(uint32_t level) {
  return level >= 13 ? SPV_ENV_VULKAN_1_3 : SPV_ENV_VULKAN_1_2;
}

}  // namespace

std::string Validate(const Words& module, uint32_t level) {
  spvtools::SpirvTools tools(EnvironmentOf(level));
  std::string problem;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*, const spv_position_t&, const char* text) {
    problem += text;
    problem += '\n';
  });
  if (tools.Validate(module)) return {};
  return problem.empty() ? "the module is not valid" : problem;
}

Words Optimise(const Words& module, uint32_t level) {
  spvtools::Optimizer optimizer(EnvironmentOf(level));
  std::string problem;
  optimizer.SetMessageConsumer(
      [&](spv_message_level_t severity, const char*, const spv_position_t&, const char* text) {
        if (severity <= SPV_MSG_ERROR) problem += text;
      });
  optimizer.RegisterPass(spvtools::CreateRedundancyEliminationPass())
      .RegisterPass(spvtools::CreateAggressiveDCEPass())
      .RegisterPass(spvtools::CreateCompactIdsPass());
  spvtools::OptimizerOptions options;
  options.set_run_validator(false);
  Words optimised;
  bool done = optimizer.Run(module.data(), module.size(), &optimised, options);
  ADC_CHECK(done, problem.c_str());
  return optimised;
}

std::string Disassemble(const Words& module, uint32_t level) {
  spvtools::SpirvTools tools(EnvironmentOf(level));
  std::string text;
  bool done = tools.Disassemble(module, &text,
                                SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_INDENT);
  ADC_CHECK(done, "a module that has no text");
  return text;
}

}  // namespace adc::codegen::spirv

#include "codegen/spirv/tools.h"

#include <set>
#include <spirv-tools/libspirv.hpp>
#include <spirv-tools/optimizer.hpp>
#include <utility>

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

namespace {

/// The begin and the end of the extensions of a module: after its capabilities.
std::pair<size_t, size_t> ExtensionsOf(const Words& module) {
  auto op_at = [&](size_t at) { return static_cast<spv::Op>(module[at] & spv::OpCodeMask); };
  size_t first = 5;
  while (op_at(first) == spv::OpCapability) first += module[first] >> spv::WordCountShift;
  size_t last = first;
  while (op_at(last) == spv::OpExtension) last += module[last] >> spv::WordCountShift;
  return {first, last};
}

}  // namespace

/// The tools remove nothing from modules with an extension that is younger than they are, so that they are
/// shown the module without.
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
  auto at = [](const Words& words, size_t place) { return words.begin() + static_cast<ptrdiff_t>(place); };
  auto [first, last] = ExtensionsOf(module);
  Words plain(module.begin(), at(module, first));
  plain.insert(plain.end(), at(module, last), module.end());
  bool done = optimizer.Run(plain.data(), plain.size(), &optimised, options);
  ADC_CHECK(done, problem.c_str());
  size_t place = ExtensionsOf(optimised).first;
  optimised.insert(at(optimised, place), at(module, first), at(module, last));
  return optimised;
}

namespace {

spv::Op OpOf(std::span<const uint32_t> instruction) {
  return static_cast<spv::Op>(instruction[0] & spv::OpCodeMask);
}

/// The text that begins at a word of the instruction.
std::string_view TextAt(std::span<const uint32_t> instruction, size_t word) {
  if (word >= instruction.size()) return {};
  std::string_view text(reinterpret_cast<const char*>(&instruction[word]), (instruction.size() - word) * 4);
  return text.substr(0, text.find('\0'));
}

}  // namespace

Words WithoutDebugInfo(const Words& module) {
  constexpr size_t kHeader = 5;
  if (module.size() < kHeader) return module;
  std::vector<std::span<const uint32_t>> instructions;
  std::set<Id> debug;
  bool others = false;  // sets that may read texts, as DebugPrintf does
  for (size_t at = kHeader; at < module.size();) {
    size_t count = module[at] >> spv::WordCountShift;
    if (count == 0 || count > module.size() - at) return module;
    instructions.emplace_back(&module[at], count);
    at += count;
    if (OpOf(instructions.back()) != spv::OpExtInstImport || count < 3) continue;
    std::string_view name = TextAt(instructions.back(), 2);
    bool is_debug = name.starts_with("NonSemantic.Shader.DebugInfo.");
    if (is_debug) debug.insert(instructions.back()[1]);
    others = others || (!is_debug && name.starts_with("NonSemantic."));
  }
  bool has_source = false;
  auto goes = [&](std::span<const uint32_t> inst) {
    spv::Op op = OpOf(inst);
    if (op == spv::OpLine || op == spv::OpNoLine || op == spv::OpSourceContinued) return true;
    if (op == spv::OpString) return !others;
    if (op == spv::OpExtInstImport) return inst.size() > 1 && debug.contains(inst[1]);
    if (op == spv::OpExtInst) return inst.size() > 3 && debug.contains(inst[3]);
    if (op == spv::OpExtension)
      return !debug.empty() && !others && TextAt(inst, 1) == "SPV_KHR_non_semantic_info";
    return op == spv::OpSource && std::exchange(has_source, true);
  };
  Words words(module.begin(), module.begin() + kHeader);
  for (std::span<const uint32_t> inst : instructions) {
    if (goes(inst)) continue;
    // The language and its version stay of a source.
    size_t most = OpOf(inst) == spv::OpSource ? 3 : inst.size();
    AppendInstruction(words, OpOf(inst), inst.subspan(1, std::min(inst.size(), most) - 1));
  }
  return words;
}

std::string Disassemble(const Words& module, uint32_t level, Ids ids) {
  spvtools::SpirvTools tools(EnvironmentOf(level));
  std::string text;
  uint32_t options = SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_INDENT;
  if (ids == Ids::Names) options |= SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES;
  bool done = tools.Disassemble(module, &text, options);
  ADC_CHECK(done, "a module that has no text");
  return text;
}

}  // namespace adc::codegen::spirv

#pragma once
// What the tests of the SPIR-V back end share: text in, a validated module with its text out.

#include <cstring>
#include <spirv-tools/libspirv.hpp>
#include <spirv/unified1/spirv.hpp>

#include "codegen/spirv/emit.h"
#include "lowered.h"
#include "raised.h"

namespace adc::test {

inline codegen::CodeConfig SpirvConfig(const std::string& target, uint32_t optimise = 2) {
  codegen::CodeConfig config;
  config.target = *target::FindTarget(target);
  config.optimise = optimise;
  return config;
}

struct SpirvModule {
  codegen::TargetCode code;
  std::vector<uint32_t> words;
  std::string text;

  /// The instructions with this opcode.
  size_t Count(spv::Op op) const {
    size_t count = 0;
    for (size_t at = 5; at < words.size(); at += words[at] >> 16) count += (words[at] & 0xFFFF) == op;
    return count;
  }
  /// The names that the capabilities have, in the order of the module.
  std::vector<std::string> Capabilities() const {
    std::vector<std::string> names;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      size_t at = line.find("OpCapability ");
      if (at != std::string::npos) names.push_back(line.substr(at + 13));
    }
    return names;
  }
  bool Has(const std::string& what) const { return text.find(what) != std::string::npos; }
};

/// Compiles; requires that the module is valid for `target`.
inline SpirvModule SpirvFor(const LoweredModule& lowered, const codegen::CodeConfig& config,
                            const driver::CompileOptions& options = {}) {
  diag::Result<codegen::TargetCode> code =
      EmitRaised(codegen::EmitSpirv, *lowered.module, lowered.ToEmit(), config, options);
  INFO((code.Ok() ? std::string() : code.Failure().text));
  REQUIRE(code.Ok());
  SpirvModule module;
  module.code = std::move(*code);
  const codegen::Payload* payload = module.code.Find(codegen::PayloadKind::Spirv);
  REQUIRE(payload != nullptr);
  REQUIRE(payload->bytes.size() % 4 == 0);
  module.words.resize(payload->bytes.size() / 4);
  std::memcpy(module.words.data(), payload->bytes.data(), payload->bytes.size());
  bool newer = config.target.kind == target::Kind::Vulkan && config.target.level >= 13;
  spvtools::SpirvTools tools(newer ? SPV_ENV_VULKAN_1_3 : SPV_ENV_VULKAN_1_2);
  std::string problem;
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t&, const char* text) { problem += text; });
  tools.Disassemble(module.words, &module.text,
                    SPV_BINARY_TO_TEXT_OPTION_NO_HEADER | SPV_BINARY_TO_TEXT_OPTION_INDENT);
  bool valid = tools.Validate(module.words);
  INFO(problem << "\n" << module.text);
  REQUIRE(valid);
  return module;
}

/// The OpPhis of each block that starts a loop, and of each other block that has one.
struct PhiCounts {
  std::vector<size_t> of_loops, of_others;
};

inline PhiCounts CountPhis(const SpirvModule& module) {
  PhiCounts counts;
  size_t phis = 0;
  bool loop = false;
  for (size_t at = 5; at < module.words.size(); at += module.words[at] >> 16) {
    auto op = static_cast<spv::Op>(module.words[at] & 0xFFFF);
    if (op == spv::OpLabel || op == spv::OpFunctionEnd) {
      if (loop) counts.of_loops.push_back(phis);
      if (!loop && phis != 0) counts.of_others.push_back(phis);
      phis = 0;
      loop = false;
    }
    phis += op == spv::OpPhi;
    loop = loop || op == spv::OpLoopMerge;
  }
  return counts;
}

}  // namespace adc::test

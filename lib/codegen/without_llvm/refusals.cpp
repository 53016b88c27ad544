// The entry points that need LLVM, for an adc that was built without it: they refuse.

#include "codegen/amdgpu/emit.h"
#include "codegen/common/back_ends.h"
#include "codegen/common/math_file.h"
#include "codegen/cpu/emit.h"
#include "codegen/llvm/disassemble.h"
#include "codegen/llvm/strip_debug.h"
#include "codegen/nvptx/emit.h"
#include "diag/errors/codegen.h"
#include "diag/errors/driver.h"
#include "support/check.h"

namespace adc::codegen {

namespace {

diag::Diagnostic Refuse(const target::Target& target) {
  return diag::Fail(diag::E0704, {},
                    "this adc was built without LLVM, and writes no code for target '" + target.name + "'",
                    "give --target=vulkan or --target=metal, where it is to run --device vulkan, or use an "
                    "adc with LLVM");
}

}  // namespace

std::optional<diag::Diagnostic> WhyNoBackEnd(const target::Target& target) {
  switch (target.kind) {
    case target::Kind::Cpu:
    case target::Kind::Cuda:
    case target::Kind::Hip:
      return Refuse(target);
    case target::Kind::Vulkan:
    case target::Kind::Metal:
      return std::nullopt;
  }
  ADC_UNREACHABLE("a kind of target of which no build has thought");
}

diag::Result<TargetCode> EmitCpu(const ir::Module&, std::span<const KernelToEmit>, const CodeConfig& config) {
  return Refuse(config.target);
}

diag::Result<TargetCode> EmitNvptx(const ir::Module&, std::span<const KernelToEmit>,
                                   const CodeConfig& config) {
  return Refuse(config.target);
}

diag::Result<TargetCode> EmitAmdgpu(const ir::Module&, std::span<const KernelToEmit>,
                                    const CodeConfig& config) {
  return Refuse(config.target);
}

diag::Result<std::string> Disassemble(std::span<const uint8_t>, std::string_view) {
  return diag::Fail(diag::E0611, {}, "this adc was built without LLVM, and reads no machine code",
                    "use an adc with LLVM");
}

std::optional<std::vector<uint8_t>> WithoutDebugSections(std::span<const uint8_t>) {
  return std::nullopt;
}

std::optional<uint64_t> FunctionBytes(std::span<const uint8_t>, std::string_view) {
  return std::nullopt;
}

/// No target that is left reads such a file.
std::string MathFileOf(const target::Target&, const std::string&) {
  return {};
}

}  // namespace adc::codegen

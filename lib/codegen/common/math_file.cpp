#include "codegen/common/math_file.h"

#include <filesystem>

#include "host/installed.h"

namespace adc::codegen {

namespace {

/// A file by the name that LLVM's library gives it, and where the build found it, links followed.
struct MathFile {
  std::string_view name, found;
};
constexpr MathFile kMathFiles[] = {ADC_LIBCLC_FILES};

}  // namespace

std::string MathFileOf(const target::Target& target, const std::string& libdevice) {
  bool nvidia = target.arch == target::Arch::Nvptx;
  if (!nvidia && target.arch != target::Arch::Amdgcn) return {};
  if (nvidia && !libdevice.empty()) return libdevice;
  std::string name = nvidia ? "nvptx64--nvidiacl.bc" : target.processor + "-amdgcn--.bc";
  for (const MathFile& file : kMathFiles) {
    if (file.name != name) continue;
    std::filesystem::path installed =
        InstalledFile("clc/" + std::filesystem::path(file.found).filename().string());
    return installed.empty() ? std::string(file.found) : installed.string();
  }
  return {};
}

}  // namespace adc::codegen

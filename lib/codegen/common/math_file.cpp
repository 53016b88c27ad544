#include "codegen/common/math_file.h"

#include "support/installed.h"

namespace adc::codegen {

std::string MathFileOf(const target::Target& target, const std::string& libdevice) {
  bool nvidia = target.arch == target::Arch::Nvptx;
  if (!nvidia && target.arch != target::Arch::Amdgcn) return {};
  if (nvidia && !libdevice.empty()) return libdevice;
  std::string name = nvidia ? "nvptx64--nvidiacl.bc" : target.processor + "-amdgcn--.bc";
  std::string installed = InstalledFile("clc/" + name).string();
  return installed.empty() ? std::string(ADC_LIBCLC_FOLDER) + "/" + name : installed;
}

}  // namespace adc::codegen

#include "codegen/nvptx/emit.h"

#include <algorithm>
#include <string_view>

#include "codegen/llvm/gpu_module.h"
#include "codegen/llvm/machine.h"
#include "codegen/nvptx/dialect.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

/// LLVM numbers calls in comments, and counts them from the start of the process: the same code would not be
/// the same text.
std::vector<uint8_t> WithoutCallNumbers(const std::vector<uint8_t>& text) {
  constexpr std::string_view kMark = " // callseq ";
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  std::vector<uint8_t> result;
  result.reserve(text.size());
  while (!rest.empty()) {
    size_t mark = std::min(rest.find(kMark), rest.size());
    result.insert(result.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(mark));
    size_t end = mark == rest.size() ? mark : std::min(rest.find('\n', mark), rest.size());
    rest.remove_prefix(end);
  }
  return result;
}

}  // namespace

diag::Result<TargetCode> EmitNvptx(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config) {
  ADC_CHECK(config.target.arch == target::Arch::Nvptx, "an NVIDIA target");
  auto write = [&config](llvm::Module& output, llvm::TargetMachine& machine,
                         Stopwatch& watch) -> diag::Result<Payload> {
    // Quotients and roots are exact unless a function says so. Said before inlining, it would not last.
    for (llvm::Function& function : output) {
      if (config.float_mode == FloatMode::Fast && !function.isDeclaration())
        function.addFnAttr("unsafe-fp-math", "true");
    }
    Payload ptx{PayloadKind::Ptx, WithoutCallNumbers(MakeAssembly(output, machine))};
    watch.Lap("select");
    return ptx;
  };
  return EmitGpu(module, kernels, config, NvptxDialect(config.target), write);
}

}  // namespace adc::codegen

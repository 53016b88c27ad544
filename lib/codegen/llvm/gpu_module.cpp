#include "codegen/llvm/gpu_module.h"

#include "artifact/gpu_abi.h"
#include "codegen/llvm/gpu_loop.h"
#include "codegen/llvm/math_library.h"
#include "codegen/llvm/meeting_sums.h"
#include "codegen/llvm/output_module.h"
#include "codegen/llvm/table_writer.h"
#include "codegen/llvm/vector_sums.h"

namespace adc::codegen {

diag::Result<TargetCode> EmitGpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                 const CodeConfig& config, const GpuDialect& dialect,
                                 const WritePayload& write) {
  TargetCode code;
  diag::Status possible = CheckInput(module, kernels, config, code.warnings);
  if (!possible) return possible.Failure();
  Stopwatch watch(code.steps);
  OutputModule output(config);
  dialect.MakeModule(output.module());
  code.entries = EmitGpuKernels(output.module(), module, kernels, config, dialect, output.BeginLines());
  if (code.HasTeams()) code.features.emplace_back(ADRT_GPU_TEAM_FEATURE);
  if (NeedsTable(kernels)) {
    EmitTableWriter(output.module(), config.target, dialect);
    code.features.push_back(ADRT_GPU_TABLE_FEATURE);
  }
  output.EndLines();
  diag::Status linked =
      LinkMath(output.module(), MathLibraryOf(config.target, config.libdevice), config.target);
  if (!linked) return linked.Failure();
  output.Optimise({}, watch, &code);
  ExpandMeetingSums(output.module(), dialect, config.target);
  JoinVectorSums(output.module(), dialect, config.target);
  diag::Result<Payload> payload = write(output.module(), output.machine(), watch);
  if (!payload) return payload.Failure();
  code.payloads.push_back(std::move(*payload));
  return code;
}

}  // namespace adc::codegen

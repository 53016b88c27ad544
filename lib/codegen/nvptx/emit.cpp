#include "codegen/nvptx/emit.h"

#include "codegen/llvm/gpu_module.h"
#include "codegen/llvm/machine.h"
#include "codegen/nvptx/dialect.h"
#include "codegen/nvptx/text.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

/// Quotients and roots whose flags allow it, as the machine's approximations. LLVM would take them for whole
/// functions only, and contract everything there, what decides about control flow as well.
void Approximate(llvm::Module& module) {
  using llvm::Intrinsic::ID;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!instruction.getType()->isFloatTy()) continue;
      ID approximate = llvm::Intrinsic::not_intrinsic;
      if (instruction.getOpcode() == llvm::Instruction::FDiv && instruction.hasAllowReciprocal())
        approximate = llvm::Intrinsic::nvvm_div_approx_f;
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::sqrt && call->hasApproxFunc())
        approximate = llvm::Intrinsic::nvvm_sqrt_approx_f;
      if (approximate == llvm::Intrinsic::not_intrinsic) continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::SmallVector<llvm::Value*, 2> operands{instruction.getOperand(0)};
      if (call == nullptr) operands.push_back(instruction.getOperand(1));
      instruction.replaceAllUsesWith(builder.CreateIntrinsic(approximate, {}, operands));
      instruction.eraseFromParent();
    }
  }
}

}  // namespace

diag::Result<TargetCode> EmitNvptx(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                   const CodeConfig& config) {
  ADC_CHECK(config.target.arch == target::Arch::Nvptx, "an NVIDIA target");
  auto write = [&config](llvm::Module& output, llvm::TargetMachine& machine,
                         Stopwatch& watch) -> diag::Result<Payload> {
    if (config.float_mode == FloatMode::Fast) Approximate(output);
    Payload ptx{PayloadKind::Ptx, MakePtx(output, machine)};
    watch.Lap("select");
    return ptx;
  };
  return EmitGpu(module, kernels, config, NvptxDialect(config.target), write);
}

}  // namespace adc::codegen

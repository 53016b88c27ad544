// Kernels get only the words of the launch: every input that the hardware or the runtime could add is marked
// as not needed, so that the kernel arguments end where the words end and no register is set up in vain.
// Functions are inlined into their kernels: a call would make each kernel set up a stack and give up
// registers for it.
#include "codegen/amdgpu/emit.h"

#include "codegen/llvm/amd_inputs.h"
#include "codegen/llvm/blocks.h"
#include "codegen/llvm/elf_link.h"
#include "codegen/llvm/gpu_module.h"
#include "codegen/llvm/machine.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

constexpr uint32_t kCodeObjectVersion = 500;
constexpr uint32_t kHalfWave = 32;
/// Bit mode of ds_swizzle: lane -> ((lane & 31) | 0) ^ x within each half wave.
constexpr uint32_t kSwizzleKeep = 0x1F;
constexpr uint32_t kSwizzleXorShift = 10;

/// AMD's GPUs: registers that the dispatch fills, ballots, reads of other lanes.
class AmdgpuDialect final : public GpuDialect {
 public:
  explicit AmdgpuDialect(const target::Target& target) : target_(target) {}

  void MakeModule(llvm::Module& module) const override {
    module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", kCodeObjectVersion);
  }

  void MakeEntry(llvm::Function& function, uint32_t block_size) const override {
    function.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
    function.setVisibility(llvm::GlobalValue::ProtectedVisibility);
    std::string size = std::to_string(block_size);
    function.addFnAttr("amdgpu-flat-work-group-size", size + "," + size);
    function.addFnAttr("uniform-work-group-size", "true");
  }

  void MakeFunction(llvm::Function& function) const override {
    function.addFnAttr("target-cpu", target_.processor);
    if (!target_.features.empty()) function.addFnAttr("target-features", target_.features);
    // Sums of floats are instructions where they round and order as a loop would; memory of the device is all
    // that kernels are given.
    function.addFnAttr("amdgpu-unsafe-fp-atomics", "true");
    // The threshold to which LLVM unrolls on other targets, and not twice as much: copies cost registers,
    // which waves share.
    function.addFnAttr("amdgpu-unroll-threshold", "150");
    for (unsigned n = kAmdKernelInputs; n < kAmdInputs.size(); ++n) function.addFnAttr(kAmdInputs[n]);
    if (function.hasLocalLinkage()) {
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }

  const char* AtomicScope() const override { return "agent"; }

  Value* ThreadInBlock(Builder& b, uint32_t block_size) const override {
    llvm::CallInst* number = b.CreateIntrinsic(Intrinsic::amdgcn_workitem_id_x, {}, {});
    SetRange(number, llvm::APInt(32, block_size));
    return number;
  }

  Value* BlockNumber(Builder& b) const override {
    return b.CreateIntrinsic(Intrinsic::amdgcn_workgroup_id_x, {}, {});
  }

  void MeetBlock(Builder& b) const override {
    llvm::SyncScope::ID block = b.getContext().getOrInsertSyncScopeID("workgroup");
    b.CreateFence(llvm::AtomicOrdering::Release, block);
    b.CreateIntrinsic(Intrinsic::amdgcn_s_barrier, {}, {});
    b.CreateFence(llvm::AtomicOrdering::Acquire, block);
  }

  uint32_t Lanes() const override { return target_.wave; }

  Value* Lane(Builder& b) const override { return CountBelow(b, EveryLane(b)); }

  Value* ActiveLanes(Builder& b) const override { return Ballot(b, b.getTrue()); }

  Value* LanesWhere(Builder& b, Value* mask, Value* condition) const override {
    return b.CreateAnd(Ballot(b, condition), mask);
  }

  Value* CountBelow(Builder& b, Value* mask) const override {
    Value* low = b.CreateTrunc(mask, b.getInt32Ty());
    Value* count = b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_lo, {}, {low, b.getInt32(0)});
    if (Lanes() == kHalfWave) return count;
    Value* high = b.CreateTrunc(b.CreateLShr(mask, kHalfWave), b.getInt32Ty());
    return b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_hi, {}, {high, count});
  }

  Value* Read(Builder& b, Value*, Value* value, Value* lane) const override {
    return b.CreateIntrinsic(Intrinsic::amdgcn_ds_bpermute, {}, {b.CreateShl(lane, 2), value});
  }

  Value* ReadOne(Builder& b, Value*, Value* value, Value* lane) const override {
    return b.CreateIntrinsic(Intrinsic::amdgcn_readlane, {b.getInt32Ty()}, {value, lane});
  }

  Value* ReadAcross(Builder& b, Value* value, uint32_t distance) const override {
    if (distance >= kHalfWave)
      return Read(b, EveryLane(b), value, b.CreateXor(Lane(b), b.getInt32(distance)));
    return b.CreateIntrinsic(Intrinsic::amdgcn_ds_swizzle, {},
                             {value, b.getInt32(distance << kSwizzleXorShift | kSwizzleKeep)});
  }

 private:
  Value* Ballot(Builder& b, Value* condition) const {
    return b.CreateIntrinsic(Intrinsic::amdgcn_ballot, {MaskType(b)}, {condition});
  }

  const target::Target& target_;
};

}  // namespace

diag::Result<TargetCode> EmitAmdgpu(const ir::Module& module, std::span<const KernelToEmit> kernels,
                                    const CodeConfig& config) {
  ADC_CHECK(config.target.arch == target::Arch::Amdgcn, "an AMD target");
  auto write = [&config](llvm::Module& output, llvm::TargetMachine& machine,
                         Stopwatch& watch) -> diag::Result<Payload> {
    diag::Result<std::vector<uint8_t>> object = MakeObject(output, machine, {});
    if (!object) return object.Failure();
    ADC_CHECK(UndefinedSymbols(*object).empty(), "a code object that needs a function from elsewhere");
    watch.Lap("select");
    std::vector<const char*> arguments = {"-m", "elf64_amdgpu", "--no-undefined"};
    if (!config.debug_lines) arguments.push_back("-s");
    diag::Result<std::vector<uint8_t>> image = LinkElf(*object, arguments, "code object");
    if (!image) return image.Failure();
    watch.Lap("link");
    return Payload{PayloadKind::Hsaco, std::move(*image)};
  };
  return EmitGpu(module, kernels, config, AmdgpuDialect(config.target), write);
}

}  // namespace adc::codegen

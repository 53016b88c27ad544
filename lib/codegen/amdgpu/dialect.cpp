// Kernels get only the words of the launch: every input that the hardware or the runtime could add is marked
// as not needed, so that the kernel arguments end where the words end and no register is set up in vain.
// Functions are inlined into their kernels: a call would make each kernel set up a stack and give up
// registers for it.
#include "codegen/amdgpu/dialect.h"

#include "codegen/llvm/amd_inputs.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

constexpr uint32_t kCodeObjectVersion = 500;
constexpr uint32_t kHalfWave = 32;
/// Bit mode of ds_swizzle: lane -> ((lane & 31) | 0) ^ x within each half wave.
constexpr uint32_t kSwizzleKeep = 0x1F;
constexpr uint32_t kSwizzleXorShift = 10;

}  // namespace

void AmdgpuDialect::MakeModule(llvm::Module& module) const {
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", kCodeObjectVersion);
}

void AmdgpuDialect::MakeFunction(llvm::Function& function) const {
  function.addFnAttr("target-cpu", target_.processor);
  if (!target_.features.empty()) function.addFnAttr("target-features", target_.features);
  // Sums of floats are instructions where they round and order as a loop would; memory of the device is all
  // that kernels are given.
  function.addFnAttr("amdgpu-unsafe-fp-atomics", "true");
  // The threshold to which LLVM unrolls on other targets, and not twice as much: copies cost registers, which
  // waves share.
  function.addFnAttr("amdgpu-unroll-threshold", "150");
  for (unsigned n = kAmdKernelInputs; n < kAmdInputs.size(); ++n) function.addFnAttr(kAmdInputs[n]);
  if (function.hasLocalLinkage()) {
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
}

void AmdgpuDialect::MakeEntry(llvm::Function& function, uint32_t block_size) const {
  function.setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
  function.setVisibility(llvm::GlobalValue::ProtectedVisibility);
  std::string size = std::to_string(block_size);
  function.addFnAttr("amdgpu-flat-work-group-size", size + "," + size);
  function.addFnAttr("uniform-work-group-size", "true");
}

Value* AmdgpuDialect::ThreadInBlock(Builder& b, uint32_t block_size) const {
  llvm::CallInst* number = b.CreateIntrinsic(Intrinsic::amdgcn_workitem_id_x, {}, {});
  number->setMetadata(
      llvm::LLVMContext::MD_range,
      llvm::MDBuilder(b.getContext()).createRange(llvm::APInt(32, 0), llvm::APInt(32, block_size)));
  return number;
}

Value* AmdgpuDialect::BlockNumber(Builder& b) const {
  return b.CreateIntrinsic(Intrinsic::amdgcn_workgroup_id_x, {}, {});
}

void AmdgpuDialect::MeetBlock(Builder& b) const {
  llvm::SyncScope::ID block = b.getContext().getOrInsertSyncScopeID("workgroup");
  b.CreateFence(llvm::AtomicOrdering::Release, block);
  b.CreateIntrinsic(Intrinsic::amdgcn_s_barrier, {}, {});
  b.CreateFence(llvm::AtomicOrdering::Acquire, block);
}

Value* AmdgpuDialect::Lane(Builder& b) const {
  return CountBelow(b, EveryLane(b));
}

Value* AmdgpuDialect::Ballot(Builder& b, Value* condition) const {
  return b.CreateIntrinsic(Intrinsic::amdgcn_ballot, {MaskType(b)}, {condition});
}

Value* AmdgpuDialect::ActiveLanes(Builder& b) const {
  return Ballot(b, b.getTrue());
}

Value* AmdgpuDialect::LanesWhere(Builder& b, Value* mask, Value* condition) const {
  return b.CreateAnd(Ballot(b, condition), mask);
}

Value* AmdgpuDialect::CountBelow(Builder& b, Value* mask) const {
  Value* low = b.CreateTrunc(mask, b.getInt32Ty());
  Value* count = b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_lo, {}, {low, b.getInt32(0)});
  if (Lanes() == kHalfWave) return count;
  Value* high = b.CreateTrunc(b.CreateLShr(mask, kHalfWave), b.getInt32Ty());
  return b.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_hi, {}, {high, count});
}

Value* AmdgpuDialect::Read(Builder& b, Value*, Value* value, Value* lane) const {
  return b.CreateIntrinsic(Intrinsic::amdgcn_ds_bpermute, {}, {b.CreateShl(lane, 2), value});
}

Value* AmdgpuDialect::ReadOne(Builder& b, Value*, Value* value, Value* lane) const {
  return b.CreateIntrinsic(Intrinsic::amdgcn_readlane, {b.getInt32Ty()}, {value, lane});
}

Value* AmdgpuDialect::ReadAcross(Builder& b, Value* value, uint32_t distance) const {
  if (distance >= kHalfWave) return Read(b, EveryLane(b), value, b.CreateXor(Lane(b), b.getInt32(distance)));
  return b.CreateIntrinsic(Intrinsic::amdgcn_ds_swizzle, {},
                           {value, b.getInt32(distance << kSwizzleXorShift | kSwizzleKeep)});
}

}  // namespace adc::codegen

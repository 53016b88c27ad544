#pragma once
// The dialect of NVIDIA's GPUs: special registers, shuffles and ballots that name their lanes, kernels.

#include "codegen/llvm/gpu_dialect.h"
#include "target/target.h"

namespace adc::codegen {

class NvptxDialect final : public GpuDialect {
 public:
  explicit NvptxDialect(const target::Target& target) : target_(target) {}

  void MakeEntry(llvm::Function& function, uint32_t block_size) const override;
  void RaiseOccupancy(llvm::Function& function, uint32_t block_size, uint32_t threads) const override;
  void MakeFunction(llvm::Function& function) const override;
  const char* AtomicScope() const override { return ""; }
  llvm::Value* ThreadInBlock(Builder& b, uint32_t block_size) const override;
  llvm::Value* BlockNumber(Builder& b) const override;
  void MeetBlock(Builder& b) const override;
  uint32_t Lanes() const override { return 32; }
  llvm::Value* Lane(Builder& b) const override;
  llvm::Value* ActiveLanes(Builder& b) const override;
  llvm::Value* LanesWhere(Builder& b, llvm::Value* mask, llvm::Value* condition) const override;
  llvm::Value* CountBelow(Builder& b, llvm::Value* mask) const override;
  llvm::Value* Read(Builder& b, llvm::Value* mask, llvm::Value* value, llvm::Value* lane) const override;
  llvm::Value* ReadAcross(Builder& b, llvm::Value* value, uint32_t distance) const override;
  llvm::Value* ReciprocalRoot(Builder& b, ir::Scalar scalar, llvm::Value* value) const override;
  llvm::Value* Peers(Builder& b, llvm::Value* mask, llvm::Value* value) const override;
  bool AddsAtOnce() const override { return target_.level >= 80; }
  llvm::Value* AddOverWave(Builder& b, llvm::Value* value) const override;
  /// From sm_90 and PTX 8.1 on.
  bool AddsVectors() const override;
  void AddVector(Builder& b, llvm::Value* address, llvm::ArrayRef<llvm::Value*> values) const override;
  /// exp, exp2, log, log2, sin and cos of f32.
  llvm::Value* ApproximateMath(Builder& b, ir::Op op, ir::Scalar scalar,
                               llvm::ArrayRef<llvm::Value*> operands) const override;

 private:
  const target::Target& target_;
};

}  // namespace adc::codegen

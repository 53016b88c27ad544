#pragma once
// The dialect of AMD's GPUs: registers that the dispatch fills, ballots, reads of other lanes, kernels.

#include "codegen/llvm/gpu_dialect.h"
#include "target/target.h"

namespace adc::codegen {

class AmdgpuDialect final : public GpuDialect {
 public:
  explicit AmdgpuDialect(const target::Target& target) : target_(target) {}

  void MakeModule(llvm::Module& module) const override;
  void MakeEntry(llvm::Function& function, uint32_t block_size) const override;
  void MakeFunction(llvm::Function& function) const override;
  const char* AtomicScope() const override { return "agent"; }
  llvm::Value* ThreadInBlock(Builder& b, uint32_t block_size) const override;
  llvm::Value* BlockNumber(Builder& b) const override;
  void MeetBlock(Builder& b) const override;
  uint32_t Lanes() const override { return target_.wave; }
  llvm::Value* Lane(Builder& b) const override;
  llvm::Value* ActiveLanes(Builder& b) const override;
  llvm::Value* LanesWhere(Builder& b, llvm::Value* mask, llvm::Value* condition) const override;
  llvm::Value* CountBelow(Builder& b, llvm::Value* mask) const override;
  llvm::Value* Read(Builder& b, llvm::Value* mask, llvm::Value* value, llvm::Value* lane) const override;
  llvm::Value* ReadOne(Builder& b, llvm::Value* mask, llvm::Value* value, llvm::Value* lane) const override;
  llvm::Value* ReadAcross(Builder& b, llvm::Value* value, uint32_t distance) const override;

 private:
  llvm::Value* Ballot(Builder& b, llvm::Value* condition) const;

  const target::Target& target_;
};

}  // namespace adc::codegen

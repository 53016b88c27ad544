#pragma once
// Sums of a worker that runs alone: gathered sums live in a table, in memory.
//
// The address of a cell picks a slot, which holds an address and its partial sum.
//
//   slot = (address / size) mod slots
//   tags[slot] = address ? partial[slot] += v
//                        : flush partial[slot] to tags[slot]; tags[slot] = address; partial[slot] = v
//
// Neighbouring components fall into neighbouring slots: those of one small array do not evict each other.

#include "codegen/llvm/sums.h"

namespace adc::codegen {

class GatherTables final : public SumEmitter {
 public:
  using SumEmitter::SumEmitter;

 private:
  struct Table {
    ir::Inst first;
    ir::Scalar scalar = ir::Scalar::F32;
    llvm::AllocaInst* tags = nullptr;
    llvm::AllocaInst* partial = nullptr;
  };

  void BeginGathered(const PrivateSums& sums) override;
  void AddGathered(ir::Inst inst, uint32_t number) override;
  void EndSums(const std::vector<Sum>& sums) override;
  void EndGathered() override;
  /// `adc.replace.<type>(tags, partial, slot, address, value)`: gives a slot to another cell.
  llvm::Function* ReplaceFunction(ir::Scalar scalar);
  /// `adc.flush.all.<type>(tags, partial)`: flushes every slot.
  llvm::Function* FlushAllFunction(ir::Scalar scalar);

  std::vector<Table> tables_;
};

}  // namespace adc::codegen

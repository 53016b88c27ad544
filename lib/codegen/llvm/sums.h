#pragma once
// Sums over the iterations of one call (codegen/common/chunk_sums.h) as LLVM IR.
//
// A sum into one cell is a local variable, which becomes a register, added to its cell when the call ends.
// Gathered sums live in a table: the address of a cell picks a slot, which holds an address and what is owed
// to it.
//
//   slot = (address / size) mod slots
//   tags[slot] = address ? owed[slot] += v : pay what tags[slot] is owed; tags[slot] = address; owed[slot] =
//   v
//
// Neighbouring components fall into neighbouring slots, so that a small array never fights with itself.

#include "codegen/common/chunk_sums.h"
#include "codegen/llvm/memory.h"

namespace adc::codegen {

class SumEmitter {
 public:
  SumEmitter(const ir::Function& kernel, llvm::IRBuilder<>& builder, TargetHooks& hooks,
             ScalarEmitter& scalars, ValueTable& values, MemoryEmitter& memory, const AliasScopes& aliases)
      : kernel_(kernel),
        builder_(builder),
        hooks_(hooks),
        scalars_(scalars),
        values_(values),
        memory_(memory),
        aliases_(aliases) {}

  /// Prepares the sums of the parallel loop that is about to be emitted.
  void Begin(const ChunkSums& sums);
  /// Emits an accumulation into a sum; false, and nothing emitted, where `inst` belongs to none.
  bool Accumulate(ir::Inst inst);
  /// Adds each sum to its cell.
  void End();

 private:
  struct Sum {
    const ChunkSum* what = nullptr;
    llvm::AllocaInst* total = nullptr;
    llvm::AllocaInst* touched = nullptr;  ///< null where the cell may always be touched
  };
  struct Table {
    ir::Inst first;
    ir::Scalar scalar = ir::Scalar::F32;
    llvm::AllocaInst* tags = nullptr;
    llvm::AllocaInst* owed = nullptr;
  };

  void AddToSum(ir::Inst inst, const Sum& sum);
  void AddToTable(ir::Inst inst, const Table& table);
  llvm::Value* Combine(Reduction reduction, bool subtract, ir::Scalar scalar, llvm::Value* old,
                       llvm::Value* value);
  /// adc.owe.<type>(tags, owed, slot, address, value): gives a slot to another cell.
  llvm::Function* OweFunction(ir::Scalar scalar);
  /// adc.settle.<type>(tags, owed): pays every slot.
  llvm::Function* SettleFunction(ir::Scalar scalar);
  llvm::BasicBlock* NewBlock(const char* name);

  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  MemoryEmitter& memory_;
  const AliasScopes& aliases_;
  const ChunkSums* chunk_sums_ = nullptr;
  std::vector<Sum> sums_;
  std::vector<Table> tables_;
};

}  // namespace adc::codegen

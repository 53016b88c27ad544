#pragma once
// Sums over the iterations of one worker (codegen/common/private_sums.h) as LLVM IR.
//
// A sum into one cell is a local variable, which becomes a register, added to its cell when the worker has no
// more iterations. The update of the cell, and the gathering of sums into cells that change, depend on
// whether the worker runs alone (gather_tables.cpp) or in step with others (lane_sums.cpp).

#include <memory>

#include "codegen/common/private_sums.h"
#include "codegen/llvm/kernel_part.h"

namespace adc::codegen {

using ir::Reduction;

class SumEmitter : protected KernelPart {
 public:
  explicit SumEmitter(const KernelPart& part) : KernelPart(part) {}
  virtual ~SumEmitter() = default;

  /// Prepares the sums of the parallel loop that is about to be emitted.
  void Begin(const PrivateSums& sums);
  /// Emits an accumulation into a sum; false, and nothing emitted, where `inst` belongs to none.
  bool Accumulate(ir::Inst inst);
  /// Of a `for` that is about to be emitted: whether the lanes, all of them, run it with the same cells of
  /// its turns (turn_sums.h), as an i1. Null where it has no such sums.
  virtual llvm::Value* ShareTurns(ir::Inst /*loop*/) { return nullptr; }
  /// Of an `if` that is about to be emitted: whether all lanes are there, those with the condition run loops
  /// whose turns they share, and the others know the cells too, as an i1. Null where it holds no such loop.
  virtual llvm::Value* ShareBranch(ir::Inst /*branch*/, llvm::Value* /*condition*/) { return nullptr; }
  /// Around the form of the loop for lanes that do, and at the end of each turn.
  virtual void BeginTurns(ir::Inst /*loop*/) {}
  /// `number` of as many turns as `copies` says, a power of two, that the code has one after the other.
  virtual void EndTurn(ir::Inst /*loop*/, uint32_t /*number*/ = 0, uint32_t /*copies*/ = 1) {}
  virtual void EndTurns() {}
  /// From now on sums of cells that change take in what lanes with `condition` have, an i1; null: all lanes.
  virtual void AddWhere(llvm::Value* /*condition*/) {}
  /// Ends what Accumulate may have put off. Called before control flow, and before what touches memory in
  /// other ways.
  virtual void Flush() {}
  /// Adds each sum to its cell.
  void End();
  /// Memory that the sums take of a block of threads, once they have ended.
  virtual uint32_t SharedBytes() const { return 0; }

 protected:
  struct Sum {
    const PrivateSum* what = nullptr;
    llvm::AllocaInst* total = nullptr;
    llvm::AllocaInst* touched =
        nullptr;  ///< null where the cell may always be touched, or the total shows it
    /// Of whole numbers: the cell, which may not be there otherwise, is touched where the total is not what
    /// the sum starts from.
    bool shows = false;
  };

  virtual void BeginGathered(const PrivateSums& sums) = 0;
  /// Adds `inst` to the gathered sum `number`.
  virtual void AddGathered(ir::Inst inst, uint32_t number) = 0;
  virtual void EndSums(const std::vector<Sum>& sums) = 0;
  virtual void EndGathered() = 0;

  /// The number that an update adds.
  llvm::Value* ValueOf(ir::Inst update);
  /// The number from which the sum starts: it leaves a cell as it is, to the bit.
  llvm::Constant* StartOf(const Sum& sum) const;
  llvm::Value* TotalOf(const Sum& sum);
  /// i1, or null where the cell may always be touched. `total`: of the sum so far.
  llvm::Value* TouchedOf(const Sum& sum, llvm::Value* total);
  /// Updates the cell of `sum` with `total`; UpdateIf: where `condition` holds. No total: that of the worker.
  void Update(const Sum& sum, llvm::Value* total);
  void UpdateIf(llvm::Value* condition, const Sum& sum, llvm::Value* total);

  /// Whether a sum of the parallel loop that is being emitted is gathered.
  bool IsGathered(ir::Inst inst) const {
    return private_sums_ != nullptr && private_sums_->gathered_of.Get(inst) != ir::kNoAttr;
  }

 private:
  void AddToSum(ir::Inst inst, const Sum& sum);

  const PrivateSums* private_sums_ = nullptr;
  std::vector<Sum> sums_;
};

/// Of a worker that runs alone, and of one that runs in step with the other lanes of a wave.
std::unique_ptr<SumEmitter> MakeGatherTables(const KernelPart& part);
std::unique_ptr<SumEmitter> MakeLaneSums(const KernelPart& part);

}  // namespace adc::codegen

#pragma once
// Sums of the turns of a loop into cells that all lanes come to together (raise/private_sums.h, `of_turn`).
//
//   for %j in 0..%n {                    turn j: the lanes merge what they have for it with earlier turns
//     add_to %w.adj[%o, %j], %v    ->    every 32 turns, and after the last one: lane j mod 32 has the total
//   }                                    of turn j, and adds it to the cell of that turn
//
// So one update of memory serves 32 turns, mostly of neighbouring cells. Turns merge as digits of a counter
// carry. At level k two runs of 2^k turns become one of twice as many: lanes whose bit k is 0 give the later
// run away and keep the earlier one, their partners at a distance of 2^k the other way round. That is 31
// exchanges for 32 turns, where 32 sums over the wave take 160. The code asks in front of the loop whether
// all lanes of the wave run it with the same bounds and indices (LaneSums::ShareTurns).

#include <vector>

#include "codegen/common/turn_cells.h"
#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/kernel_part.h"

namespace adc::codegen {

/// Of a loop that is being emitted.
class TurnSums : KernelPart {
 public:
  /// Leaves the builder as it is, in front of the loop.
  TurnSums(const KernelPart& part, const std::vector<ir::Inst>& sums);

  bool Has(ir::Inst inst) const { return cells_.Has(inst); }
  /// `own`: the number that this lane adds to the cell of `inst` in the next turn of the round.
  void Add(ir::Inst inst, llvm::Value* own);
  /// After the last turn of a round, for each of its turns. The code of a round has `copies` turns, a power
  /// of two, and this is `number` of them; a round begins with a multiple of `copies`.
  void EndTurn(uint32_t number, uint32_t copies);
  /// After the loop.
  void End();

 private:
  struct Cell {
    ir::Inst inst;
    llvm::SmallVector<llvm::Value*> own;           ///< in each turn of the round
    llvm::SmallVector<llvm::Value*> starts;        ///< the addresses there, without `offset`
    llvm::SmallVector<llvm::AllocaInst*> pending;  ///< of each level: the earlier run, while it is alone
    llvm::AllocaInst* address = nullptr;           ///< that start in the turn of this lane
    int64_t offset = 0;
  };

  void HoldAddresses(llvm::Value* filled, uint32_t number);
  /// A run and the one that follows it, of 2^level turns each, as one.
  llvm::Value* Merge(llvm::Value* earlier, llvm::Value* later, uint32_t level);
  /// Merges this turn with the runs before it, and updates where each lane has a total then.
  void MergeTurn(llvm::Value* filled, uint32_t number, uint32_t copies);
  /// The total of a lane after the last of `filled` turns, which are fewer than there are lanes.
  llvm::Value* MergeRest(const Cell& cell, llvm::Value* filled);
  /// The lane adds its totals to the cells of its turn.
  void Update(const std::vector<llvm::Value*>& totals);
  llvm::Value* Sum(llvm::Value* a, llvm::Value* b);
  llvm::Value* Bit(llvm::Value* number, uint32_t level);
  llvm::Value* Lane() { return hooks_.Wave()->Lane(builder_); }
  llvm::Value* InWave(llvm::Value* turns);

  IndexSet<ir::Inst> cells_;
  std::vector<Cell> held_;
  uint32_t levels_ = 0;                 ///< the logarithm of the number of lanes
  llvm::AllocaInst* filled_ = nullptr;  ///< turns so far
};

}  // namespace adc::codegen

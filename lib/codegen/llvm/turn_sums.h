#pragma once
// Sums of the turns of a loop into cells that all lanes come to together (raise/private_sums.h, `of_turn`).
//
//   for %j in 0..%n {                    turn j: the lanes add up, and lane j mod 32 holds the total
//     add_to %w.adj[%o, %j], %v    ->    every 32 turns, and after the last one: each lane adds the total
//   }                                    that it holds to the cell of that turn
//
// So one update of memory serves 32 turns, mostly of neighbouring cells. The code asks in front of the loop
// whether all lanes of the wave run it with the same bounds and indices (LaneSums::ShareTurns).

#include <vector>

#include "codegen/llvm/alias.h"
#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/hooks.h"
#include "codegen/llvm/memory.h"

namespace adc::codegen {

/// The sums of turns of one loop, and what all lanes have to agree about: values from outside of it by which
/// its bounds and the cells are computed.
struct TurnCells {
  std::vector<ir::Inst> sums;
  std::vector<ir::Value> roots;
};

/// Those of a `for`; no sums where it has none.
TurnCells TurnCellsOf(const ir::Function& kernel, ir::Inst loop);

/// Of a loop that is being emitted.
class TurnSums {
 public:
  /// Leaves the builder as it is, in front of the loop.
  TurnSums(const ir::Function& kernel, llvm::IRBuilder<>& builder, TargetHooks& hooks, MemoryEmitter& memory,
           const AliasScopes& aliases, const std::vector<ir::Inst>& sums);

  bool Has(ir::Inst inst) const { return cells_.Has(inst); }
  /// `total`: what the lanes have summed up for `inst` in this turn.
  void Add(ir::Inst inst, llvm::Value* total);
  /// At the end of a turn, before the builder goes back to the loop's start.
  void EndTurn();
  /// After the loop.
  void End();

 private:
  /// What a lane holds for a cell of its turn.
  struct Cell {
    ir::Inst inst;
    llvm::AllocaInst *total = nullptr, *address = nullptr;
  };

  /// Each lane that holds something, those below `filled`, adds it to its cells.
  void Update(llvm::Value* filled);
  llvm::BasicBlock* NewBlock(const char* name);

  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  MemoryEmitter& memory_;
  const AliasScopes& aliases_;
  IndexSet<ir::Inst> cells_;
  std::vector<Cell> held_;
  llvm::AllocaInst* filled_ = nullptr;  ///< lanes that hold something
};

}  // namespace adc::codegen

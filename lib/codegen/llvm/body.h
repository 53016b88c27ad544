#pragma once
// The body of a task as LLVM IR: structured control becomes basic blocks, block parameters become phis.
//
//   for %i in lo..hi step s carry(%a = %x) {...}         lo < hi ? loop : exit
//                                                 loop:  i = phi(lo, i + s), a = phi(x, yielded); ...
//                                                        i + s < hi ? loop : exit
//                                                 exit:  result = phi(x, yielded)
//
// Requires: a lowered kernel that CanGenerate has let pass. Guarantees: whatever the target's hooks give is
// asked for at most once per task, in the entry block. Breaks: nothing of the IR; it only reads it.
//
// Whatever the mode of floats, what decides about control flow is computed as it is written
// (raise/decisions.h).

#include <functional>
#include <map>
#include <memory>

#include "codegen/llvm/debug_lines.h"
#include "codegen/llvm/memory.h"
#include "codegen/llvm/pieces.h"
#include "codegen/llvm/split_function.h"
#include "codegen/llvm/sums.h"

namespace adc::codegen {

class BodyEmitter {
 public:
  BodyEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              TargetHooks& hooks, FloatMode float_mode, const AliasScopes& aliases, DebugLines* lines);

  ValueTable& values() { return values_; }
  MemoryEmitter& memory() { return memory_; }
  SumEmitter& sums() { return *sums_; }

  /// What tells the counters of the parallel loop apart, in the branch that alone reads them.
  void SetTellCounters(std::function<void()> tell) { tell_counters_ = std::move(tell); }
  /// Has the runs of `plan` emitted in blocks of their own, and added to `pieces`, inner ones first.
  void SetPieces(const PiecePlan* plan, std::vector<Piece>* pieces) {
    plan_ = plan;
    pieces_ = pieces;
  }
  /// Emits the instructions [first, last) of `block`.
  void EmitRange(ir::Block block, uint32_t first, uint32_t last);
  /// Emits a block up to its terminator.
  void EmitBlock(ir::Block block);
  /// Emits the block of a parallel loop whose iteration `size` threads run together (raise/teams.h).
  void EmitTeam(ir::Block block, uint32_t size);
  /// Memory of the block of threads that teams take.
  uint32_t SharedBytes() const { return shared_bytes_; }

 private:
  void EmitInst(ir::Inst inst);
  // Of a team (body_team.cpp).
  void EmitInTeam(ir::Block block, uint32_t first, uint32_t last);
  void EmitByFirst(std::span<const ir::Inst> writes);
  void EmitCommonArray(ir::Inst array);
  void EmitApart(ir::Inst inst);
  void Meet();
  template <class Turn>
  llvm::SmallVector<llvm::Value*> EmitTurns(llvm::Value* low, llvm::Value* high,
                                            llvm::ArrayRef<llvm::Value*> zeros, Turn turn);
  llvm::Value* SumOverTeam(ir::Scalar scalar, llvm::Value* mine);
  llvm::Value* Shared(uint32_t bytes);
  void EmitPiece(const std::vector<ir::Inst>& insts, PiecePlan::Run run);
  void EmitPure(ir::Inst inst);
  void EmitFor(ir::Inst inst);
  void EmitLoop(ir::Inst inst);
  void UnrollTurns(llvm::BranchInst* latch, uint32_t turns);
  void EmitWhile(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitCheck(ir::Inst inst);
  void EmitRow(ir::Inst inst);
  void EmitParameterComponent(ir::Inst inst);
  /// A sine or cosine, which comes with the other one of its angle.
  void EmitPaired(ir::Inst inst);
  /// The values that a block's terminator gives.
  llvm::SmallVector<llvm::Value*> Yielded(ir::Block block);
  llvm::BasicBlock* NewBlock(const char* name);
  void SetPlace(ir::Inst inst);

  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  DebugLines* lines_;
  ScalarEmitter scalars_;
  ValueTable values_;
  MemoryEmitter memory_;
  std::unique_ptr<SumEmitter> sums_;
  bool alone_ = false;  ///< in the form of a loop in which each lane makes the sums of its turns
  /// Of the range that is emitted: by angle, the one of a pair that is still to come.
  std::map<uint32_t, llvm::Value*>* pairs_ = nullptr;
  std::function<void()> tell_counters_;
  const PiecePlan* plan_ = nullptr;
  std::vector<Piece>* pieces_ = nullptr;
  uint32_t team_ = 0;  ///< threads that run the iteration together, around loops that are apart; 0 elsewhere
  bool enters_met_ =
      false;  ///< the team has met where the block that comes next begins, and touched nothing since
  llvm::Value* team_sums_ = nullptr;  ///< where the threads of a team leave sums
  uint32_t shared_bytes_ = 0;
};

}  // namespace adc::codegen

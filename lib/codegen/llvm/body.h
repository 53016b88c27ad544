#pragma once
// The body of a task as LLVM IR: structured control becomes basic blocks, block parameters become phis.
//
//   for %i in lo..hi step s carry(%a = %x) {...}         lo < hi ? loop : exit
//                                                 loop:  i = phi(lo, i + s), a = phi(x, yielded); ...
//                                                        i + s < hi ? loop : exit
//                                                 exit:  result = phi(x, yielded)
//
// Requires: a lowered kernel that CanGenerate has let pass. Guarantees: each value of the target's hooks is
// asked for at most once per task, in the entry block. Breaks: nothing of the IR; it only reads it.
//
// In every mode of floats the values that decide about control flow are computed as they are written
// (raise/decisions.h).

#include <functional>
#include <map>
#include <memory>

#include "codegen/llvm/debug_lines.h"
#include "codegen/llvm/memory.h"
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

  /// Sets the function that tells the counters of the parallel loop apart, in the branch that alone reads
  /// them.
  void SetTellCounters(std::function<void()> tell) { tell_counters_ = std::move(tell); }
  /// Whether the worker runs all iterations, an i1 for which sums ask from here on (raise/one_worker.h).
  void SetRunsAll(llvm::Value* runs_all) { runs_all_ = runs_all; }
  /// Has what stands from one cut to the next emitted in blocks of its own, and added to `pieces`, inner ones
  /// first.
  void SetPieces(std::vector<Piece>* pieces) { pieces_ = pieces; }
  /// Emits the instructions [first, last) of `block`.
  void EmitRange(ir::Block block, uint32_t first, uint32_t last);
  /// Emits a block up to its terminator.
  void EmitBlock(ir::Block block);
  /// Emits the block of a parallel loop whose iteration `size` threads run together (raise/teams.h).
  void EmitTeam(ir::Block block, uint32_t size);
  /// The same where each lane of the waves has an iteration (common/wave_teams.h); `has`: this lane's is one.
  void EmitWaveTeam(ir::Block block, uint32_t size, llvm::Value* has);
  /// Memory of the block of threads that teams take.
  uint32_t SharedBytes() const { return shared_bytes_; }

 private:
  void EmitInst(ir::Inst inst);
  void EmitAccess(ir::Inst inst);
  /// Some of one block, in their order.
  void EmitInsts(std::span<const ir::Inst> insts);
  /// Instructions of which a sine and a cosine of one angle may be a pair. Their sums are made at the end.
  void EmitWithPairs(llvm::function_ref<void()> emit);
  // Of a team (body_team.cpp).
  void EmitInTeam(ir::Block block, uint32_t first, uint32_t last);
  void EmitByFirst(std::span<const ir::Inst> writes);
  void EmitCommonArray(ir::Inst array);
  void EmitApart(ir::Inst inst);
  void EmitShare(ir::Inst inst);
  void Meet();
  template <class Turn>
  llvm::SmallVector<llvm::Value*> EmitTurns(llvm::Value* low, llvm::Value* high,
                                            llvm::ArrayRef<llvm::Value*> zeros, Turn turn);
  llvm::SmallVector<llvm::Value*> StartsOf(ir::Inst loop);
  template <class Sum>
  void BindSums(ir::Inst loop, llvm::ArrayRef<llvm::Value*> own, Sum sum);
  llvm::Value* SumOverTeam(ir::Scalar scalar, llvm::Value* mine);
  llvm::Value* SumOverWaves(ir::Scalar scalar, llvm::Value* mine);
  llvm::Value* TeamSum(ir::Scalar scalar, llvm::Value* number);
  llvm::Value* Shared(uint32_t bytes);
  /// Ends the piece that begins there; null: there is none.
  void EndPiece(llvm::BasicBlock* begin);
  void EmitPure(ir::Inst inst);
  void EmitFor(ir::Inst inst);
  void EmitLoop(ir::Inst inst);
  // The code in which the lanes of a wave sum up together (body_turns.cpp).
  void EmitForms(ir::Inst inst, llvm::Value* shared, llvm::function_ref<void()> emit_together,
                 llvm::function_ref<void()> emit_alone);
  /// The turns of such a loop.
  struct TurnRange {
    ir::Inst loop;
    llvm::Value* guard;        ///< of the lanes whose loop it is; null: of all
    llvm::Value *low, *count;  ///< the lowest index and the number of turns, i64
  };
  void EmitBranchTogether(ir::Inst inst, llvm::Value* condition);
  void EmitTogether(ir::Inst inst, llvm::Value* guard);
  TurnRange RangeOf(ir::Inst inst, llvm::Value* guard);
  llvm::SmallVector<llvm::Value*> EmitTurnsTogether(const TurnRange& turns,
                                                    llvm::SmallVector<llvm::Value*> carried);
  void EmitGuarded(std::span<const ir::Inst> insts, llvm::Value* guard);
  llvm::SmallVector<llvm::Value*> EmitCopies(const TurnRange& turns, llvm::Value* first, llvm::Value* end,
                                             uint32_t copies, const llvm::SmallVector<llvm::Value*>& starts);
  void EmitRound(const TurnRange& turns, llvm::Value* first, uint32_t copies,
                 llvm::SmallVector<llvm::Value*>& carried);
  void BeginTurn(const TurnRange& turns, llvm::Value* first, uint32_t copy,
                 const llvm::SmallVector<llvm::Value*>& carried);
  void EmitGuardedRound(const TurnRange& turns, llvm::Value* first, uint32_t copies,
                        llvm::SmallVector<llvm::Value*>& carried);
  void UnrollTurns(llvm::BranchInst* latch, uint32_t turns);
  void EmitWhile(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitBranch(ir::Inst inst);
  void EmitCheck(ir::Inst inst);
  void EmitRow(ir::Inst inst);
  void EmitParameterComponent(ir::Inst inst);
  /// A sine or cosine, which comes with the other one of its angle.
  void EmitPaired(ir::Inst inst);
  /// The values that a block's terminator gives.
  llvm::SmallVector<llvm::Value*> Yielded(ir::Block block);
  llvm::BasicBlock* NewBlock(const char* name);
  /// A block into which the current one leads, and where code is emitted from here on.
  llvm::BasicBlock* NextBlock(const char* name);
  void SetPlace(ir::Inst inst);

  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  DebugLines* lines_;
  ScalarEmitter scalars_;
  ValueTable values_;
  MemoryEmitter memory_;
  std::unique_ptr<SumEmitter> sums_;
  llvm::Value* runs_all_ = nullptr;
  bool alone_ = false;  ///< in the form of a loop in which each lane makes the sums of its turns
  /// Of the range that is emitted: by angle, the one of a pair that is still to come.
  std::map<uint32_t, llvm::Value*>* pairs_ = nullptr;
  std::function<void()> tell_counters_;
  std::vector<Piece>* pieces_ = nullptr;
  uint32_t team_ = 0;  ///< threads that run the iteration together, around loops that are apart; 0 elsewhere
  bool enters_met_ =
      false;  ///< the team has met where the block that comes next begins, and touched nothing since
  llvm::Value* has_iteration_ = nullptr;  ///< of a team of waves: whether this lane does
  llvm::Value* team_sums_ = nullptr;      ///< the memory in which the threads of a team leave sums
  uint32_t shared_bytes_ = 0;
};

}  // namespace adc::codegen

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

#include "codegen/llvm/body_team.h"
#include "codegen/llvm/split_function.h"

namespace adc::codegen {

class BodyEmitter : BodyTables, BodyPart {
 public:
  BodyEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              TargetHooks& hooks, FloatMode float_mode, const AliasScopes& aliases, DebugLines* lines);

  ValueTable& values() { return values_; }
  MemoryEmitter& memory() { return memory_; }
  SumEmitter& sums() { return sums_; }
  TeamEmitter& team() { return team_; }

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
  void EmitInst(ir::Inst inst);
  /// Says where what follows comes from.
  using BodyPart::SetPlace;
  /// Some of one block, in their order.
  void EmitInsts(std::span<const ir::Inst> insts);

 private:
  /// Instructions of which a sine and a cosine of one angle may be a pair. Their sums are made at the end.
  void EmitWithPairs(llvm::function_ref<void()> emit);
  /// A block into which the current one leads, and where code is emitted from here on.
  llvm::BasicBlock* NextBlock(const char* name);
  /// Ends the piece that begins there; null: there is none.
  void EndPiece(llvm::BasicBlock* begin);
  void EmitPure(ir::Inst inst);
  /// A sine or cosine, which comes with the other one of its angle.
  void EmitPaired(ir::Inst inst);
  void EmitAccess(ir::Inst inst);
  /// Two forms of the code, of which `shared` chooses. Results are those of `inst`.
  void EmitForms(ir::Inst inst, llvm::Value* shared, llvm::function_ref<void()> emit_together,
                 llvm::function_ref<void()> emit_alone);
  void EmitFor(ir::Inst inst);
  void EmitLoop(ir::Inst inst);
  void UnrollTurns(llvm::BranchInst* latch, uint32_t turns);
  void EmitWhile(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitBranch(ir::Inst inst);
  void EmitCheck(ir::Inst inst);
  void EmitRow(ir::Inst inst);
  void EmitParameterComponent(ir::Inst inst);

  TeamEmitter team_;
  llvm::Value* runs_all_ = nullptr;
  bool alone_ = false;  ///< in the form of a loop in which each lane makes the sums of its turns
  /// Of the range that is emitted: by angle, the one of a pair that is still to come.
  std::map<uint32_t, llvm::Value*>* pairs_ = nullptr;
  std::function<void()> tell_counters_;
  std::vector<Piece>* pieces_ = nullptr;
};

}  // namespace adc::codegen

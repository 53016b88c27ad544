#pragma once
// Loops whose turns the lanes of a wave sum up together, and branches that hold one.

#include "codegen/llvm/body_part.h"

namespace adc::codegen {

/// One such loop.
class TurnsTogether : BodyPart {
 public:
  /// `guard`: of the lanes whose loop it is; null: of all.
  TurnsTogether(const BodyPart& part, ir::Inst loop, llvm::Value* guard = nullptr);

  /// Leaves those turns that this wave takes of a team of waves.
  void TakeShare();
  /// Emits the turns, which start from `carried`. Gives the values that they carry.
  llvm::SmallVector<llvm::Value*> Emit(llvm::SmallVector<llvm::Value*> carried);
  /// Emits the loop and binds its results.
  void EmitLoop();

 private:
  llvm::SmallVector<llvm::Value*> EmitCopies(llvm::Value* first, llvm::Value* end, uint32_t copies,
                                             const llvm::SmallVector<llvm::Value*>& starts);
  void EmitRound(llvm::Value* first, uint32_t copies, llvm::SmallVector<llvm::Value*>& carried);
  void EmitGuardedRound(llvm::Value* first, uint32_t copies, llvm::SmallVector<llvm::Value*>& carried);
  void BeginTurn(llvm::Value* first, uint32_t copy, const llvm::SmallVector<llvm::Value*>& carried);

  ir::Inst loop_;
  llvm::Value* guard_;
  llvm::Value *low_, *count_;  ///< the lowest index and the number of turns, i64
};

/// A branch that all lanes run, and that lanes without its condition do nothing in.
class BranchTogether : BodyPart {
 public:
  explicit BranchTogether(const BodyPart& part) : BodyPart(part) {}

  void Emit(ir::Inst inst, llvm::Value* condition);

 private:
  void EmitGuarded(std::span<const ir::Inst> insts, llvm::Value* guard);
};

}  // namespace adc::codegen

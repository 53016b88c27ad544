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
// (analysis/decisions.h).

#include <functional>
#include <memory>

#include "analysis/decisions.h"
#include "codegen/llvm/debug_lines.h"
#include "codegen/llvm/memory.h"
#include "codegen/llvm/pieces.h"
#include "codegen/llvm/split_function.h"
#include "codegen/llvm/sums.h"

namespace adc::codegen {

class BodyEmitter {
 public:
  BodyEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              TargetHooks& hooks, FloatMode float_mode, const AliasScopes& aliases,
              const analysis::Decisions& decisions, DebugLines* lines);

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

 private:
  void EmitInst(ir::Inst inst);
  void EmitPiece(const std::vector<ir::Inst>& insts, PiecePlan::Run run);
  void EmitPure(ir::Inst inst);
  void EmitFor(ir::Inst inst);
  void UnrollForRows(llvm::BranchInst* latch, ir::Block body);
  void EmitWhile(ir::Inst inst);
  void EmitIf(ir::Inst inst);
  void EmitCheck(ir::Inst inst);
  void EmitRow(ir::Inst inst);
  void EmitParameterComponent(ir::Inst inst);
  void EmitSinCos(ir::Inst inst);
  /// The values that a block's terminator gives.
  llvm::SmallVector<llvm::Value*> Yielded(ir::Block block);
  llvm::BasicBlock* NewBlock(const char* name);
  void SetPlace(ir::Inst inst);
  /// Marks the sines and cosines of a block that one call can give.
  void PairSinCos(ir::Block block, uint32_t first, uint32_t last);

  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  DebugLines* lines_;
  const analysis::Decisions& decisions_;
  ScalarEmitter scalars_;
  ValueTable values_;
  MemoryEmitter memory_;
  std::unique_ptr<SumEmitter> sums_;
  SideTable<ir::Inst, ir::Inst> partner_;  ///< sin <-> cos of one operand in one block
  IndexSet<ir::Inst> emitted_;
  std::function<void()> tell_counters_;
  const PiecePlan* plan_ = nullptr;
  std::vector<Piece>* pieces_ = nullptr;
};

}  // namespace adc::codegen

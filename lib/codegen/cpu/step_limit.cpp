// Trips are counted down in a local variable, which becomes a register:
//
//   next trip?                        left = left - 1; left == 0 ? ask : next trip?
//                           =>  ask:  left = more(status); left == 0 ? stop : next trip?
//
// `left` is 0 from the moment at which the launch is to stop, and never before. A piece, which becomes a
// function of its own later, is left at its end alone: the code around it looks at `left` there.

#include "codegen/cpu/step_limit.h"

#include <map>
#include <vector>

#include "artifact/cpu_abi.h"
#include "codegen/llvm/blocks.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

using llvm::BasicBlock, llvm::Value;

namespace {

/// adc.more(status) calls what the loader has put into the status block. Without a limit there is nothing.
llvm::Function* MoreFunction(llvm::Module& module) {
  if (llvm::Function* known = module.getFunction("adc.more")) return known;
  llvm::IRBuilder<> b(module.getContext());
  llvm::Function* more = NewFunction(module, "adc.more", b.getInt64Ty(), {b.getPtrTy()});
  more->setOnlyAccessesInaccessibleMemOrArgMem();
  more->addFnAttr(llvm::Attribute::Cold);
  more->addFnAttr(llvm::Attribute::NoInline);
  auto* head = BasicBlock::Create(module.getContext(), "entry", more);
  auto* limited = BasicBlock::Create(module.getContext(), "limited", more);
  auto* unlimited = BasicBlock::Create(module.getContext(), "unlimited", more);
  b.SetInsertPoint(head);
  Value* status = more->getArg(0);
  Value* place = b.CreateConstInBoundsGEP1_64(b.getInt32Ty(), status, ADRT_CPU_STATUS_MORE);
  Value* ask = b.CreateAlignedLoad(b.getPtrTy(), place, llvm::Align(8));
  b.CreateCondBr(b.CreateIsNull(ask), unlimited, limited);
  b.SetInsertPoint(limited);
  llvm::CallInst* call = b.CreateCall(more->getFunctionType(), ask, {status});
  call->setDoesNotThrow();
  b.CreateRet(call);
  b.SetInsertPoint(unlimited);
  b.CreateRet(b.getInt64(INT64_MAX));
  return more;
}

class StepLimit {
 public:
  StepLimit(llvm::Function& task, Value* status, std::span<const Piece> pieces, const AliasScopes& aliases)
      : task_(task), status_(status), pieces_(pieces), aliases_(aliases), b_(task.getContext()) {}

  void Run() {
    std::vector<BasicBlock*> latches = Latches();
    if (latches.empty()) return;
    tree_ = PieceTreeOf(task_, pieces_);
    llvm::BasicBlock& entry = task_.getEntryBlock();
    b_.SetInsertPoint(&entry, entry.begin());
    left_ = b_.CreateAlloca(b_.getInt64Ty(), nullptr, "trips_left");
    b_.SetInsertPoint(entry.getTerminator());
    b_.CreateStore(b_.getInt64(ADRT_CPU_FREE_TRIPS), left_);
    for (BasicBlock* latch : latches) Count(latch);
    for (uint32_t piece = 1; piece <= pieces_.size(); ++piece) LeaveAfter(piece);
  }

 private:
  /// The blocks that go back to the head of a loop, in the order of the function.
  std::vector<BasicBlock*> Latches() {
    llvm::DominatorTree dominators(task_);
    std::vector<BasicBlock*> latches;
    for (BasicBlock& block : task_) {
      for (BasicBlock* next : llvm::successors(&block)) {
        if (!dominators.dominates(next, &block)) continue;
        latches.push_back(&block);
        break;
      }
    }
    return latches;
  }

  /// The block to which control goes from inside `piece` to leave it.
  BasicBlock* Stop(uint32_t piece) {
    BasicBlock*& stop = stops_[piece];
    if (stop != nullptr) return stop;
    BasicBlock* end = piece == 0 ? nullptr : pieces_[piece - 1].end;
    stop = BasicBlock::Create(task_.getContext(), "stop", &task_, end);
    llvm::IRBuilder<> leave(stop);
    if (end == nullptr)
      leave.CreateRetVoid();
    else
      leave.CreateBr(end);
    return stop;
  }

  llvm::MDNode* Seldom() { return llvm::MDBuilder(task_.getContext()).createBranchWeights(1, 1 << 16); }

  void Count(BasicBlock* latch) {
    uint32_t piece = tree_.of.lookup(latch);
    llvm::DebugLoc place = latch->getTerminator()->getDebugLoc();
    BasicBlock* next = latch->splitBasicBlock(latch->getTerminator(), "next_trip");
    BasicBlock* ask = BasicBlock::Create(task_.getContext(), "ask", &task_, next);
    latch->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(latch);
    b_.SetCurrentDebugLocation(place);
    Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt64Ty(), left_), b_.getInt64(1));
    b_.CreateStore(left, left_);
    b_.CreateCondBr(IsZero(left), ask, next, Seldom());
    b_.SetInsertPoint(ask);
    llvm::CallInst* more = b_.CreateCall(MoreFunction(*task_.getParent()), {status_});
    aliases_.MarkStatus(more);
    b_.CreateStore(more, left_);
    b_.CreateCondBr(IsZero(more), Stop(piece), next, Seldom());
  }

  /// After a piece in which the launch was stopped nothing of what it makes is there.
  void LeaveAfter(uint32_t piece) {
    if (!stops_.contains(piece)) return;
    BasicBlock* end = pieces_[piece - 1].end;
    llvm::DebugLoc place = end->getTerminator()->getDebugLoc();
    BasicBlock* rest = end->splitBasicBlock(end->getFirstInsertionPt(), "piece_left");
    end->getTerminator()->eraseFromParent();
    b_.SetInsertPoint(end);
    b_.SetCurrentDebugLocation(place);
    b_.CreateCondBr(IsZero(b_.CreateLoad(b_.getInt64Ty(), left_)), Stop(tree_.around[piece]), rest, Seldom());
  }

  Value* IsZero(Value* value) { return b_.CreateICmpEQ(value, b_.getInt64(0)); }

  llvm::Function& task_;
  Value* status_;
  std::span<const Piece> pieces_;
  const AliasScopes& aliases_;
  llvm::IRBuilder<> b_;
  llvm::AllocaInst* left_ = nullptr;
  PieceTree tree_;
  std::map<uint32_t, BasicBlock*> stops_;  ///< by piece
};

}  // namespace

void LimitSteps(llvm::Function& task, Value* status, std::span<const Piece> pieces,
                const AliasScopes& aliases) {
  StepLimit(task, status, pieces, aliases).Run();
}

}  // namespace adc::codegen

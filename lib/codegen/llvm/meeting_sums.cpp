#include "codegen/llvm/meeting_sums.h"

#include "codegen/llvm/lane_flush.h"
#include "codegen/llvm/sum_groups.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace adc::codegen {

using llvm::Value;

namespace {

constexpr const char* kMark = "adc.may_meet";
/// Lanes are added up where at least this many have the cell of the last one.
constexpr uint32_t kEnough = 8;

/// Whether the lanes that are here add up, the same for all of them: where enough have the cell of the last
/// one. The low half of an address tells; adc.flush looks at the whole. Each lane of the mask has asked for
/// it at this place, and comes to the read and to the vote, between which there is no branch.
Value* Agree(llvm::IRBuilder<>& b, const GpuDialect& wave, Value* address) {
  Value* active = wave.ActiveLanes(b);
  Value* before = b.CreateIntrinsic(llvm::Intrinsic::ctlz, {active->getType()}, {active, b.getTrue()});
  Value* last = b.CreateSub(b.getInt32(wave.Lanes() - 1), b.CreateZExtOrTrunc(before, b.getInt32Ty()));
  Value* low = b.CreatePtrToInt(address, b.getInt32Ty());
  Value* alike = b.CreateICmpEQ(wave.ReadOne(b, active, low, last), low);
  Value* peers = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, wave.LanesWhere(b, active, alike));
  return b.CreateICmpUGE(peers, llvm::ConstantInt::get(peers->getType(), kEnough));
}

void Expand(const SumGroup& group, const GpuDialect& wave, const target::Target& target) {
  llvm::AtomicRMWInst* last = group.sums.back();
  llvm::SmallVector<llvm::AtomicRMWInst*, kMostCells> up = group.Up().sums;
  llvm::IRBuilder<> b(last);
  llvm::Instruction *together = nullptr, *alone = nullptr;
  Value* address = up[0]->getPointerOperand();
  llvm::SplitBlockAndInsertIfThenElse(Agree(b, wave, address), last, &together, &alone);
  LaneCells cells{last->getType()->isFloatTy() ? ir::Scalar::F32 : ir::Scalar::F64,
                  static_cast<uint32_t>(up.size()), last->getType(), address->getType(),
                  last->getSyncScopeID()};
  llvm::SmallVector<Value*> operands{address};
  for (llvm::AtomicRMWInst* sum : up) operands.push_back(sum->getValOperand());
  b.SetInsertPoint(together);
  b.SetCurrentDebugLocation(last->getDebugLoc());
  b.CreateCall(FlushFunction(*last->getModule(), wave, target, cells), operands);
  for (llvm::AtomicRMWInst* sum : group.sums) sum->moveBefore(alone);
}

}  // namespace

void MarkMayMeet(llvm::Instruction* update) {
  update->setMetadata(kMark, llvm::MDNode::get(update->getContext(), {}));
}

void ExpandMeetingSums(llvm::Module& module, const GpuDialect& wave, const target::Target& target) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) functions.push_back(&function);
  for (llvm::Function* function : functions) {
    auto groups = SumGroupsOf(
        *function, [](const llvm::AtomicRMWInst& sum) { return sum.getMetadata(kMark) != nullptr; });
    for (const SumGroup& group : groups) Expand(group, wave, target);
  }
}

}  // namespace adc::codegen

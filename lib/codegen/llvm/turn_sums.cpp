#include "codegen/llvm/turn_sums.h"

#include <algorithm>
#include <bit>

#include "codegen/common/private_sums.h"
#include "codegen/llvm/atomic_update.h"

namespace adc::codegen {

using ir::Scalar;
using llvm::Value;

TurnSums::TurnSums(const KernelPart& part, const std::vector<ir::Inst>& sums) : KernelPart(part) {
  levels_ = static_cast<uint32_t>(std::countr_zero(hooks_.Wave()->Lanes()));
  for (ir::Inst inst : sums) {
    cells_.Insert(inst);
    held_.emplace_back().inst = inst;
  }
  filled_ = hooks_.Local(builder_.getInt32Ty(), "filled");
  builder_.CreateStore(builder_.getInt32(0), filled_);
}

void TurnSums::Add(ir::Inst inst, Value* own) {
  auto cell = std::find_if(held_.begin(), held_.end(), [&](const Cell& held) { return held.inst == inst; });
  bool is_first = cell->address == nullptr;
  cell->own.push_back(own);
  const llvm::DataLayout& layout = builder_.GetInsertBlock()->getModule()->getDataLayout();
  Value* address = memory_.AddressOf(inst);
  llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
  cell->starts.push_back(address->stripAndAccumulateConstantOffsets(layout, offset, true));
  cell->offset = offset.getSExtValue();
  if (!is_first) return;
  // Components of one element have one start.
  auto same =
      std::find_if(held_.begin(), cell, [&](const Cell& held) { return held.starts == cell->starts; });
  cell->address = same != cell ? same->address : hooks_.Local(cell->starts[0]->getType(), "held_at");
  while (cell->pending.size() < levels_) cell->pending.push_back(hooks_.Local(own->getType(), "pending"));
}

Value* TurnSums::Bit(Value* number, uint32_t level) {
  return builder_.CreateIsNotNull(builder_.CreateAnd(number, builder_.getInt32(1u << level)));
}

/// A number of turns, without those that have been updated.
Value* TurnSums::InWave(Value* turns) {
  return builder_.CreateAnd(turns, builder_.getInt32(hooks_.Wave()->Lanes() - 1));
}

Value* TurnSums::Sum(Value* a, Value* b) {
  return a->getType()->isFloatingPointTy() ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
}

Value* TurnSums::Merge(Value* earlier, Value* later, uint32_t level) {
  Value* takes_later = Bit(Lane(), level);
  Value* mine = builder_.CreateSelect(takes_later, later, earlier);
  Value* given = builder_.CreateSelect(takes_later, earlier, later);
  return Sum(mine, hooks_.Wave()->ReadScalarAcross(builder_, given, 1u << level));
}

void TurnSums::EndTurn(uint32_t number, uint32_t copies) {
  Value* filled = builder_.CreateLoad(builder_.getInt32Ty(), filled_);
  HoldAddresses(filled, number);
  builder_.CreateStore(builder_.CreateAdd(filled, builder_.getInt32(1)), filled_);
  MergeTurn(filled, number, copies);
  if (number + 1 != copies) return;
  for (Cell& cell : held_) {
    cell.own.clear();
    cell.starts.clear();
  }
}

void TurnSums::HoldAddresses(Value* filled, uint32_t number) {
  Value* mine = builder_.CreateICmpEQ(Lane(), InWave(filled));
  for (auto cell = held_.begin(); cell != held_.end(); ++cell) {
    auto same = [&](const Cell& held) { return held.address == cell->address; };
    if (std::find_if(held_.begin(), cell, same) != cell) continue;
    Value *start = cell->starts[number], *old = builder_.CreateLoad(start->getType(), cell->address);
    builder_.CreateStore(builder_.CreateSelect(mine, start, old), cell->address);
  }
}

void TurnSums::MergeTurn(Value* filled, uint32_t number, uint32_t copies) {
  llvm::BasicBlock* done = NewBlock(builder_, "turn_merged");
  std::vector<Value*> runs;
  for (const Cell& cell : held_) runs.push_back(cell.own[number]);
  for (uint32_t level = 0; level < levels_; ++level) {
    llvm::BasicBlock *merge = NewBlock(builder_, "turn_merge"), *wait = NewBlock(builder_, "turn_waits");
    bool is_known = 1u << level < copies;
    Value* is_later = is_known ? builder_.getInt1((number >> level & 1) != 0) : Bit(filled, level);
    builder_.CreateCondBr(is_later, merge, wait);
    builder_.SetInsertPoint(wait);
    for (size_t n = 0; n < held_.size(); ++n) builder_.CreateStore(runs[n], held_[n].pending[level]);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(merge);
    for (size_t n = 0; n < held_.size(); ++n) {
      Value* earlier = builder_.CreateLoad(runs[n]->getType(), held_[n].pending[level]);
      runs[n] = Merge(earlier, runs[n], level);
    }
  }
  Update(runs);
  GoOnIn(builder_, done);
}

// The turns that are missing until each lane has one add nothing.
void TurnSums::End() {
  llvm::BasicBlock *some = NewBlock(builder_, "turns_left"), *update = NewBlock(builder_, "turns_update"),
                   *done = NewBlock(builder_, "turns_done");
  Value* filled = InWave(builder_.CreateLoad(builder_.getInt32Ty(), filled_));
  builder_.CreateCondBr(builder_.CreateIsNotNull(filled), some, done);
  builder_.SetInsertPoint(some);
  std::vector<Value*> runs;
  for (const Cell& cell : held_) runs.push_back(MergeRest(cell, filled));
  builder_.CreateCondBr(builder_.CreateICmpULT(Lane(), filled), update, done);
  builder_.SetInsertPoint(update);
  Update(runs);
  GoOnIn(builder_, done);
}

Value* TurnSums::MergeRest(const Cell& cell, Value* filled) {
  llvm::Type* type = cell.pending[0]->getAllocatedType();
  Scalar scalar = UpdateScalar(kernel_, cell.inst);
  Value* nothing = scalars_.Constant(scalar, StartOf(ir::Reduction::Add, scalar));
  Value* run = nothing;
  for (uint32_t level = 0; level < levels_; ++level) {
    Value *pending = builder_.CreateLoad(type, cell.pending[level]), *is_there = Bit(filled, level);
    run = Merge(builder_.CreateSelect(is_there, pending, run), builder_.CreateSelect(is_there, run, nothing),
                level);
  }
  return run;
}

void TurnSums::Update(const std::vector<Value*>& totals) {
  for (size_t n = 0; n < held_.size(); ++n) {
    const Cell& cell = held_[n];
    Scalar scalar = UpdateScalar(kernel_, cell.inst);
    Value* start = builder_.CreateLoad(cell.address->getAllocatedType(), cell.address);
    AtomicCell at{builder_.CreatePtrAdd(start, builder_.getInt64(static_cast<uint64_t>(cell.offset))),
                  totals[n]->getType(), llvm::Align(ir::ByteSize(scalar)), hooks_.AtomicScope()};
    EmitAtomicSum(builder_, hooks_.Description(), at, totals[n],
                  [&](llvm::Instruction* access) { aliases_.Mark(access, cell.inst, false); });
  }
}

}  // namespace adc::codegen

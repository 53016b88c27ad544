#include "codegen/llvm/turn_sums.h"

#include <algorithm>

#include "codegen/llvm/atomic_update.h"
#include "ir/raise_words.h"

namespace adc::codegen {

using ir::Scalar;
using llvm::Value;

namespace {

void FindRoots(const ir::Function& kernel, ir::Value v, ir::Block body, std::vector<ir::Value>& roots) {
  if (kernel.IsConstant(v) || kernel.IsParameter(v) || v == kernel[body].params[0]) return;
  ir::Inst made = kernel.DefiningInst(v);
  if (made.Valid() && kernel[made].parent == body) {
    for (ir::Value operand : kernel.Operands(made)) FindRoots(kernel, operand, body, roots);
  } else if (std::find(roots.begin(), roots.end(), v) == roots.end()) {
    roots.push_back(v);
  }
}

}  // namespace

TurnCells TurnCellsOf(const ir::Function& kernel, ir::Inst loop) {
  TurnCells found;
  ir::Block body = kernel[loop].regions[0];
  for (ir::Inst inst : kernel[body].insts) {
    if (!ir::IsAccess(kernel[inst].op) || (kernel[inst].flags & ir::kFlagOfTurn) == 0) continue;
    found.sums.push_back(inst);
    for (ir::Value index : kernel.Indices(inst)) FindRoots(kernel, index, body, found.roots);
  }
  if (found.sums.empty()) return found;
  for (uint32_t bound : {0u, 1u}) FindRoots(kernel, kernel.Operand(loop, bound), body, found.roots);
  return found;
}

TurnSums::TurnSums(const ir::Function& kernel, llvm::IRBuilder<>& builder, TargetHooks& hooks,
                   MemoryEmitter& memory, const AliasScopes& aliases, const std::vector<ir::Inst>& sums)
    : kernel_(kernel), builder_(builder), hooks_(hooks), memory_(memory), aliases_(aliases) {
  for (ir::Inst inst : sums) {
    cells_.Insert(inst);
    held_.push_back({inst});
  }
  filled_ = hooks.Local(builder.getInt32Ty(), "filled");
  builder.CreateStore(builder.getInt32(0), filled_);
}

void TurnSums::Add(ir::Inst inst, Value* total) {
  auto held = std::find_if(held_.begin(), held_.end(), [&](const Cell& cell) { return cell.inst == inst; });
  Value* address = memory_.AddressOf(inst);
  if (held->total == nullptr) {
    held->total = hooks_.Local(total->getType(), "held");
    held->address = hooks_.Local(address->getType(), "held_at");
  }
  Value* filled = builder_.CreateLoad(builder_.getInt32Ty(), filled_);
  Value* mine = builder_.CreateICmpEQ(hooks_.Wave()->Lane(builder_), filled);
  auto hold = [&](llvm::AllocaInst* place, Value* value) {
    Value* old = builder_.CreateLoad(value->getType(), place);
    builder_.CreateStore(builder_.CreateSelect(mine, value, old), place);
  };
  hold(held->total, total);
  hold(held->address, address);
}

void TurnSums::EndTurn() {
  Value* lanes = builder_.getInt32(hooks_.Wave()->Lanes());
  Value* filled =
      builder_.CreateAdd(builder_.CreateLoad(builder_.getInt32Ty(), filled_), builder_.getInt32(1));
  Value* is_full = builder_.CreateICmpEQ(filled, lanes);
  builder_.CreateStore(builder_.CreateSelect(is_full, builder_.getInt32(0), filled), filled_);
  llvm::BasicBlock *full = NewBlock("turns_full"), *next = NewBlock("turns_held");
  builder_.CreateCondBr(is_full, full, next);
  builder_.SetInsertPoint(full);
  Update(lanes);
  builder_.CreateBr(next);
  builder_.SetInsertPoint(next);
}

void TurnSums::End() {
  Update(builder_.CreateLoad(builder_.getInt32Ty(), filled_));
}

void TurnSums::Update(Value* filled) {
  llvm::BasicBlock *update = NewBlock("held_update"), *done = NewBlock("held_done");
  builder_.CreateCondBr(builder_.CreateICmpULT(hooks_.Wave()->Lane(builder_), filled), update, done);
  builder_.SetInsertPoint(update);
  for (const Cell& held : held_) {
    Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(held.inst)[0]).scalar;
    llvm::Type* type = held.total->getAllocatedType();
    AtomicCell cell{builder_.CreateLoad(held.address->getAllocatedType(), held.address), type,
                    llvm::Align(ir::ByteSize(scalar)), hooks_.AtomicScope()};
    auto kind = ir::IsFloat(scalar) ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add;
    EmitAtomicUpdate(builder_, hooks_.Description(), kind, cell, builder_.CreateLoad(type, held.total),
                     [&](llvm::Instruction* access) { aliases_.Mark(access, held.inst, false); });
  }
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

llvm::BasicBlock* TurnSums::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
}

}  // namespace adc::codegen

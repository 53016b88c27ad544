// An iteration that the threads of a block run together (raise/teams.h), as codegen/spirv/body_team.cpp has
// it: the threads share the turns of loops that are apart, the first one makes the writes around them, and
// all wait before and after either.

#include "codegen/llvm/body.h"
#include "codegen/llvm/gpu_dialect.h"
#include "ir/raise_words.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

using ir::Op;
using llvm::Value;

void BodyEmitter::EmitTeam(ir::Block block, uint32_t size) {
  team_ = size;
  synced_ = enters_synced_ = false;
  EmitBlock(block);
  Sync();
  team_ = 0;
}

void BodyEmitter::Sync() {
  if (!synced_) hooks_.Wave()->MeetBlock(builder_);
  synced_ = true;
}

/// A write to memory that the threads of a team share: each would make it.
bool BodyEmitter::IsWriteOfTeam(ir::Inst inst) const {
  const ir::InstData& data = kernel_[inst];
  if (data.op == Op::RowStore) return true;
  if (!ir::IsAccess(data.op) || data.op == Op::Load) return false;
  ir::Inst array = kernel_.DefiningInst(kernel_.Operand(inst, 0));
  bool is_local = array.Valid() && kernel_[array].op == Op::Alloca;
  return !is_local || (kernel_[array].flags & ir::kFlagCommon) != 0;
}

void BodyEmitter::EmitInTeam(const std::vector<ir::Inst>& insts, uint32_t first, uint32_t last) {
  synced_ = synced_ && enters_synced_;
  enters_synced_ = false;
  for (uint32_t position = first; position < last; ++position) {
    ir::Inst inst = insts[position];
    const ir::InstData& data = kernel_[inst];
    if (data.op == Op::For && (data.flags & ir::kFlagApart) != 0) {
      EmitApart(inst);
    } else if (data.op == Op::Alloca && (data.flags & ir::kFlagCommon) != 0) {
      Sync();
      Value* memory = memory_.EmitCommonArray(inst, Shared(memory_.BytesOf(inst)));
      if ((data.flags & ir::kFlagUnset) == 0)
        EmitTurns(builder_.getInt64(memory_.LengthOf(inst)), {}, [&](Value* turn, auto&) {
          memory_.ClearElement(inst, memory, turn);
          return llvm::SmallVector<Value*>();
        });
      synced_ = position + 1 < last && kernel_[insts[position + 1]].op == Op::Alloca;
    } else if (IsWriteOfTeam(inst)) {
      Sync();
      llvm::BasicBlock *one = NewBlock("one"), *all = NewBlock("all");
      builder_.CreateCondBr(builder_.CreateICmpEQ(hooks_.InBlock(), builder_.getInt32(0)), one, all);
      builder_.SetInsertPoint(one);
      for (; position < last && IsWriteOfTeam(insts[position]); ++position) EmitInst(insts[position]);
      --position;
      builder_.CreateBr(all);
      builder_.SetInsertPoint(all);
      synced_ = false;
      Sync();
    } else {
      enters_synced_ = data.op == Op::For && EndsSynced(data.regions[0]);
      EmitInst(inst);
      synced_ = synced_ && ir::InfoOf(data.op).effect == ir::Effect::Pure;
    }
  }
  synced_ = false;
}

/// Whether the team meets at the end of a block, and touches no memory after that.
bool BodyEmitter::EndsSynced(ir::Block block) const {
  const std::vector<ir::Inst>& insts = kernel_[block].insts;
  for (size_t n = insts.size(); n-- > 0;) {
    const ir::InstData& data = kernel_[insts[n]];
    if (data.op == Op::For && (data.flags & ir::kFlagApart) != 0) return true;
    if (IsWriteOfTeam(insts[n])) return true;
    if (!ir::IsTerminator(data.op) && ir::InfoOf(data.op).effect != ir::Effect::Pure) return false;
  }
  return false;
}

/// A loop from the thread's number in steps of the team, while below `high`, an i64. What the threads have
/// summed up each by itself, from `zeros` on.
template <class Turn>
llvm::SmallVector<Value*> BodyEmitter::EmitTurns(Value* high, llvm::ArrayRef<Value*> zeros, Turn turn) {
  Value* thread = builder_.CreateZExt(hooks_.InBlock(), builder_.getInt64Ty());
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock *loop = NewBlock("turn"), *exit = NewBlock("turns_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(thread, high), loop, exit);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  counter->addIncoming(thread, before);
  llvm::SmallVector<llvm::PHINode*> sums;
  for (Value* zero : zeros) {
    sums.push_back(builder_.CreatePHI(zero->getType(), 2));
    sums.back()->addIncoming(zero, before);
  }
  llvm::SmallVector<Value*> yielded = turn(counter, sums);
  Value* next = builder_.CreateAdd(counter, builder_.getInt64(team_), "", false, true);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  counter->addIncoming(next, latch);
  for (size_t n = 0; n < sums.size(); ++n) sums[n]->addIncoming(yielded[n], latch);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, high), loop, exit);
  builder_.SetInsertPoint(exit);
  llvm::SmallVector<Value*> results;
  for (size_t n = 0; n < sums.size(); ++n) {
    llvm::PHINode* result = builder_.CreatePHI(zeros[n]->getType(), 2);
    result->addIncoming(zeros[n], before);
    result->addIncoming(yielded[n], latch);
    results.push_back(result);
  }
  return results;
}

void BodyEmitter::EmitApart(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  ir::Block body = data.regions[0];
  llvm::SmallVector<Value*> zeros;
  for (uint32_t n = 0; n < data.result_count; ++n)
    zeros.push_back(llvm::Constant::getNullValue(values_.Get(kernel_.Operand(inst, 3 + n))->getType()));
  Sync();
  uint32_t size = team_;
  llvm::SmallVector<Value*> sums = EmitTurns(values_.Index(kernel_.Operand(inst, 1)), zeros,
                                             [&](Value* turn, llvm::ArrayRef<llvm::PHINode*> carried) {
                                               team_ = 0;
                                               values_.BindCounter(kernel_[body].params[0], turn);
                                               for (size_t n = 0; n < carried.size(); ++n)
                                                 values_.Bind(kernel_[body].params[n + 1], carried[n]);
                                               EmitBlock(body);
                                               team_ = size;
                                               return Yielded(body);
                                             });
  SetPlace(inst);
  synced_ = false;
  for (uint32_t n = 0; n < sums.size(); ++n) {
    ir::Scalar scalar = kernel_.TypeOf(kernel_.Result(inst, n)).scalar;
    Value* sum = SumOverTeam(scalar, sums[n]);
    values_.Bind(kernel_.Result(inst, n),
                 scalars_.Emit(Op::Add, scalar, scalar, {values_.Get(kernel_.Operand(inst, 3 + n)), sum}));
  }
  Sync();
}

/// Halves the number of sums until there is one.
Value* BodyEmitter::SumOverTeam(ir::Scalar scalar, Value* mine) {
  llvm::Type* type = scalars_.MemoryType(scalar);
  llvm::Align alignment(ir::ByteSize(scalar));
  Value *thread = hooks_.InBlock(), *array = Shared(team_ * ir::ByteSize(scalar));
  auto place = [&](Value* at) { return builder_.CreateInBoundsGEP(type, array, at); };
  builder_.CreateAlignedStore(mine, place(thread), alignment);
  synced_ = false;
  Sync();
  for (uint32_t left = team_; left > 1;) {
    uint32_t half = (left + 1) / 2;
    llvm::BasicBlock *add = NewBlock("add"), *added = NewBlock("added");
    builder_.CreateCondBr(builder_.CreateICmpULT(thread, builder_.getInt32(left - half)), add, added);
    builder_.SetInsertPoint(add);
    Value* own = builder_.CreateAlignedLoad(type, place(thread), alignment);
    Value* other = builder_.CreateAlignedLoad(
        type, place(builder_.CreateAdd(thread, builder_.getInt32(half), "", true, true)), alignment);
    builder_.CreateAlignedStore(scalars_.Emit(Op::Add, scalar, scalar, {own, other}), place(thread),
                                alignment);
    builder_.CreateBr(added);
    builder_.SetInsertPoint(added);
    left = half;
    synced_ = false;
    Sync();
  }
  return builder_.CreateAlignedLoad(type, array, alignment);
}

llvm::Value* BodyEmitter::Shared(uint32_t bytes) {
  constexpr uint32_t kAlignment = 8;
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  auto* array = llvm::ArrayType::get(builder_.getInt64Ty(), (bytes + kAlignment - 1) / kAlignment);
  auto* memory = new llvm::GlobalVariable(
      *module, array, false, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(array), "adc.shared",
      nullptr, llvm::GlobalValue::NotThreadLocal, hooks_.Description().spaces.shared);
  memory->setAlignment(llvm::Align(kAlignment));
  shared_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return memory;
}

}  // namespace adc::codegen

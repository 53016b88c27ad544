// An iteration that the threads of a block run together (raise/teams.h), step by step (common/team_steps.h).

#include <utility>

#include "codegen/common/private_sums.h"
#include "codegen/common/team_steps.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/gpu_dialect.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

using ir::Op;
using llvm::Value;

void BodyEmitter::EmitTeam(ir::Block block, uint32_t size) {
  team_ = size;
  EmitBlock(block);
  team_ = 0;
}

void BodyEmitter::EmitWaveTeam(ir::Block block, uint32_t size, Value* has) {
  has_iteration_ = has;
  sums_->AddWhere(has);
  EmitTeam(block, size);
  sums_->AddWhere(nullptr);
  has_iteration_ = nullptr;
}

void BodyEmitter::Meet() {
  hooks_.Wave()->MeetBlock(builder_);
}

void BodyEmitter::EmitInTeam(ir::Block block, uint32_t first, uint32_t last) {
  PrintTeam(kernel_, block, first, last, enters_met_,
            {.each = [this](ir::Inst inst) { EmitInst(inst); },
             .turns = [this](ir::Inst inst) { EmitApart(inst); },
             .array = [this](ir::Inst inst) { EmitCommonArray(inst); },
             .by_first = [this](std::span<const ir::Inst> writes) { EmitByFirst(writes); },
             .meet = [this] { Meet(); }});
}

void BodyEmitter::EmitByFirst(std::span<const ir::Inst> writes) {
  llvm::BasicBlock *one = NewBlock("one"), *all = NewBlock("all");
  bool by_waves = has_iteration_ != nullptr;
  Value* is_first =
      builder_.CreateICmpEQ(by_waves ? hooks_.WaveInBlock() : hooks_.InBlock(), builder_.getInt32(0));
  if (by_waves) is_first = builder_.CreateAnd(is_first, has_iteration_);
  builder_.CreateCondBr(is_first, one, all);
  builder_.SetInsertPoint(one);
  for (ir::Inst inst : writes) EmitInst(inst);
  sums_->Flush();
  builder_.CreateBr(all);
  builder_.SetInsertPoint(all);
}

void BodyEmitter::EmitCommonArray(ir::Inst array) {
  Value* memory = memory_.EmitCommonArray(array, Shared(memory_.BytesOf(array)));
  if (kernel_[array].Has(ir::Word::Unset)) return;
  EmitTurns(builder_.getInt64(0), builder_.getInt64(memory_.LengthOf(array)), {}, [&](Value* turn, auto&) {
    memory_.ClearElement(array, memory, turn);
    return llvm::SmallVector<Value*>();
  });
}

/// A loop from `low` and the thread's number on in steps of the team, while below `high`, which are i64.
/// Gives the sums that each thread has made by itself, from `starts` on.
template <class Turn>
llvm::SmallVector<Value*> BodyEmitter::EmitTurns(Value* low, Value* high, llvm::ArrayRef<Value*> starts,
                                                 Turn turn) {
  Value* thread =
      builder_.CreateAdd(low, builder_.CreateZExt(hooks_.InBlock(), builder_.getInt64Ty()), "", true, true);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock *loop = NewBlock("turn"), *exit = NewBlock("turns_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(thread, high), loop, exit);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  counter->addIncoming(thread, before);
  llvm::SmallVector<llvm::PHINode*> sums;
  for (Value* start : starts) {
    sums.push_back(builder_.CreatePHI(start->getType(), 2));
    sums.back()->addIncoming(start, before);
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
    llvm::PHINode* result = builder_.CreatePHI(starts[n]->getType(), 2);
    result->addIncoming(starts[n], before);
    result->addIncoming(yielded[n], latch);
    results.push_back(result);
  }
  return results;
}

llvm::SmallVector<Value*> BodyEmitter::StartsOf(ir::Inst loop) {
  llvm::SmallVector<Value*> starts;
  for (uint32_t n = 0; n < kernel_[loop].result_count; ++n) {
    ir::Scalar scalar = kernel_.TypeOf(kernel_.Result(loop, n)).scalar;
    starts.push_back(scalars_.Constant(scalar, StartOf(ir::Reduction::Add, scalar)));
  }
  return starts;
}

/// The results of a loop, where each thread has summed up `own` and `sum` adds up those of the team.
template <class Sum>
void BodyEmitter::BindSums(ir::Inst loop, llvm::ArrayRef<Value*> own, Sum sum) {
  SetPlace(loop);
  for (uint32_t n = 0; n < own.size(); ++n) {
    if (n != 0) Meet();  // the next one comes to the same memory
    ir::Scalar scalar = kernel_.TypeOf(kernel_.Result(loop, n)).scalar;
    Value *start = values_.Get(kernel_.Operand(loop, 3 + n)), *total = sum(scalar, own[n]);
    values_.BindAnew(kernel_.Result(loop, n), scalars_.Emit(Op::Add, scalar, scalar, {start, total}));
  }
}

void BodyEmitter::EmitApart(ir::Inst inst) {
  if (has_iteration_ != nullptr) return EmitShare(inst);
  ir::Block body = kernel_[inst].regions[0];
  uint32_t size = team_;
  llvm::SmallVector<Value*> own =
      EmitTurns(values_.Index(kernel_.Operand(inst, 0)), values_.Index(kernel_.Operand(inst, 1)),
                StartsOf(inst), [&](Value* turn, llvm::ArrayRef<llvm::PHINode*> carried) {
                  team_ = 0;
                  values_.BindCounter(kernel_[body].params[0], turn);
                  for (size_t n = 0; n < carried.size(); ++n)
                    values_.Bind(kernel_[body].params[n + 1], carried[n]);
                  EmitBlock(body);
                  team_ = size;
                  return Yielded(body);
                });
  BindSums(inst, own, [&](ir::Scalar scalar, Value* mine) { return SumOverTeam(scalar, mine); });
}

/// The turns of this wave: those of all waves one after the other, and whole rounds of as many as it has
/// lanes, since as many add to memory at once.
void BodyEmitter::EmitShare(ir::Inst inst) {
  TurnRange turns = RangeOf(inst, nullptr);
  uint32_t lanes = hooks_.Wave()->Lanes(), round = lanes * hooks_.WavesOfBlock();
  Value* rounds =
      builder_.CreateUDiv(builder_.CreateAdd(turns.count, builder_.getInt64(round - 1), "", true, true),
                          builder_.getInt64(round));
  Value* share = builder_.CreateMul(rounds, builder_.getInt64(lanes), "", true, true);
  Value* wave = builder_.CreateZExt(hooks_.WaveInBlock(), builder_.getInt64Ty());
  auto least = [&](Value* a, Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
  };
  Value* first = least(builder_.CreateMul(share, wave, "", true, true), turns.count);
  turns.low = builder_.CreateAdd(turns.low, first, "", false, true);
  turns.count = least(builder_.CreateSub(turns.count, first, "", true, true), share);
  uint32_t size = std::exchange(team_, 0);
  llvm::SmallVector<Value*> own = EmitTurnsTogether(turns, StartsOf(inst));
  team_ = size;
  BindSums(inst, own, [&](ir::Scalar scalar, Value* mine) { return SumOverWaves(scalar, mine); });
}

/// The address of sum `number` of the team.
Value* BodyEmitter::TeamSum(ir::Scalar scalar, Value* number) {
  constexpr uint32_t kMostBytes = 8;
  if (team_sums_ == nullptr) team_sums_ = Shared(team_ * kMostBytes);
  return builder_.CreateInBoundsGEP(scalars_.MemoryType(scalar), team_sums_, number);
}

/// The sum over the values of the same lane of each wave.
Value* BodyEmitter::SumOverWaves(ir::Scalar scalar, Value* mine) {
  llvm::Align alignment(ir::ByteSize(scalar));
  builder_.CreateAlignedStore(mine, TeamSum(scalar, hooks_.InBlock()), alignment);
  Meet();
  Value *lane = hooks_.Wave()->Lane(builder_), *total = nullptr;
  for (uint32_t wave = 0; wave < hooks_.WavesOfBlock(); ++wave) {
    Value* number =
        builder_.CreateAdd(lane, builder_.getInt32(wave * hooks_.Wave()->Lanes()), "", true, true);
    Value* other = builder_.CreateAlignedLoad(mine->getType(), TeamSum(scalar, number), alignment);
    total = total == nullptr ? other : scalars_.Emit(Op::Add, scalar, scalar, {total, other});
  }
  return total;
}

/// Halves the number of sums until there is one.
Value* BodyEmitter::SumOverTeam(ir::Scalar scalar, Value* mine) {
  llvm::Type* type = scalars_.MemoryType(scalar);
  llvm::Align alignment(ir::ByteSize(scalar));
  Value* thread = hooks_.InBlock();
  auto place = [&](Value* at) { return TeamSum(scalar, at); };
  builder_.CreateAlignedStore(mine, place(thread), alignment);
  Meet();
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
    Meet();
  }
  return builder_.CreateAlignedLoad(type, place(builder_.getInt32(0)), alignment);
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

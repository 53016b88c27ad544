// An iteration that the threads of a block run together (raise/teams.h), step by step (common/team_steps.h).

#include "codegen/llvm/body_team.h"

#include <utility>

#include "codegen/common/private_sums.h"
#include "codegen/common/team_steps.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/body_turns.h"
#include "codegen/llvm/gpu_dialect.h"

namespace adc::codegen {

using ir::Op;
using llvm::Value;

void TeamEmitter::EmitBlock(ir::Block block, uint32_t size) {
  threads_ = size;
  body_.EmitBlock(block);
  threads_ = 0;
}

void TeamEmitter::EmitBlockOfWaves(ir::Block block, uint32_t size, Value* has) {
  has_iteration_ = has;
  sums_.AddWhere(has);
  EmitBlock(block, size);
  sums_.AddWhere(nullptr);
  has_iteration_ = nullptr;
}

void TeamEmitter::Meet() {
  hooks_.Wave()->MeetBlock(builder_);
}

void TeamEmitter::EmitRange(ir::Block block, uint32_t first, uint32_t last) {
  PrintTeam(kernel_, block, first, last, enters_met_,
            {.each = [this](ir::Inst inst) { body_.EmitInst(inst); },
             .turns = [this](ir::Inst inst) { EmitApart(inst); },
             .array = [this](ir::Inst inst) { EmitCommonArray(inst); },
             .by_first = [this](std::span<const ir::Inst> writes) { EmitByFirst(writes); },
             .meet = [this] { Meet(); }});
}

void TeamEmitter::EmitByFirst(std::span<const ir::Inst> writes) {
  bool by_waves = has_iteration_ != nullptr;
  Value* is_first =
      builder_.CreateICmpEQ(by_waves ? hooks_.WaveInBlock() : hooks_.InBlock(), builder_.getInt32(0));
  if (by_waves) is_first = builder_.CreateAnd(is_first, has_iteration_);
  EmitWhen(builder_, is_first, "one", "all", [&] {
    for (ir::Inst inst : writes) body_.EmitInst(inst);
    sums_.Flush();
  });
}

void TeamEmitter::EmitCommonArray(ir::Inst array) {
  Value* memory = memory_.EmitCommonArray(array, Take(memory_.BytesOf(array)));
  if (kernel_[array].Has(ir::Word::Unset)) return;
  EmitTurns(builder_.getInt64(0), builder_.getInt64(memory_.LengthOf(array)), {}, [&](Value* turn, auto&) {
    memory_.ClearElement(array, memory, turn);
    return llvm::SmallVector<Value*>();
  });
}

/// A loop from `low` and the thread's number on in steps of the team, while below `high`, which are i64.
/// Gives the sums that each thread has made by itself, from `starts` on.
template <class Turn>
llvm::SmallVector<Value*> TeamEmitter::EmitTurns(Value* low, Value* high, llvm::ArrayRef<Value*> starts,
                                                 Turn turn) {
  Value* thread =
      builder_.CreateAdd(low, builder_.CreateZExt(hooks_.InBlock(), builder_.getInt64Ty()), "", true, true);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock *loop = NewBlock(builder_, "turn"), *exit = NewBlock(builder_, "turns_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(thread, high), loop, exit);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = BeginPhi(builder_, thread, before);
  llvm::SmallVector<llvm::PHINode*> sums = Phis(starts, before);
  llvm::SmallVector<Value*> yielded = turn(counter, sums);
  Value* next = builder_.CreateAdd(counter, builder_.getInt64(threads_), "", false, true);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  counter->addIncoming(next, latch);
  AddIncoming(sums, yielded, latch);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, high), loop, exit);
  builder_.SetInsertPoint(exit);
  return Join(starts, before, yielded, latch);
}

llvm::SmallVector<Value*> TeamEmitter::StartsOf(ir::Inst loop) {
  llvm::SmallVector<Value*> starts;
  for (uint32_t n = 0; n < kernel_[loop].result_count; ++n) {
    ir::Scalar scalar = kernel_.TypeOf(kernel_.Result(loop, n)).scalar;
    starts.push_back(scalars_.Constant(scalar, StartOf(ir::Reduction::Add, scalar)));
  }
  return starts;
}

/// The results of a loop, where each thread has summed up `own` and `sum` adds up those of the team.
template <class Sum>
void TeamEmitter::BindSums(ir::Inst loop, llvm::ArrayRef<Value*> own, Sum sum) {
  SetPlace(loop);
  for (uint32_t n = 0; n < own.size(); ++n) {
    if (n != 0) Meet();  // the next one comes to the same memory
    ir::Scalar scalar = kernel_.TypeOf(kernel_.Result(loop, n)).scalar;
    Value *start = values_.Get(kernel_.Operand(loop, 3 + n)), *total = sum(scalar, own[n]);
    values_.BindAnew(kernel_.Result(loop, n), scalars_.Emit(Op::Add, scalar, scalar, {start, total}));
  }
}

void TeamEmitter::EmitApart(ir::Inst inst) {
  if (has_iteration_ != nullptr) return EmitShare(inst);
  ir::Block body = kernel_[inst].regions[0];
  uint32_t size = threads_;
  llvm::SmallVector<Value*> own =
      EmitTurns(values_.Index(kernel_.Operand(inst, 0)), values_.Index(kernel_.Operand(inst, 1)),
                StartsOf(inst), [&](Value* turn, llvm::ArrayRef<llvm::PHINode*> carried) {
                  threads_ = 0;
                  values_.BindCounter(kernel_[body].params[0], turn);
                  for (size_t n = 0; n < carried.size(); ++n)
                    values_.Bind(kernel_[body].params[n + 1], carried[n]);
                  body_.EmitBlock(body);
                  threads_ = size;
                  return Yielded(body);
                });
  BindSums(inst, own, [&](ir::Scalar scalar, Value* mine) { return SumOverTeam(scalar, mine); });
}

void TeamEmitter::EmitShare(ir::Inst inst) {
  TurnsTogether turns(*this, inst);
  turns.TakeShare();
  uint32_t size = std::exchange(threads_, 0);
  llvm::SmallVector<Value*> own = turns.Emit(StartsOf(inst));
  threads_ = size;
  BindSums(inst, own, [&](ir::Scalar scalar, Value* mine) { return SumOverWaves(scalar, mine); });
}

Value* TeamEmitter::Take(uint32_t bytes) {
  uint32_t words = (bytes + kSharedAlignment - 1) / kSharedAlignment;
  shared_bytes_ += words * kSharedAlignment;
  return SharedWords(words);
}

/// The address of sum `number` of the team.
Value* TeamEmitter::PlaceOfSum(ir::Scalar scalar, Value* number) {
  constexpr uint32_t kMostBytes = 8;
  if (sums_memory_ == nullptr) sums_memory_ = Take(threads_ * kMostBytes);
  return builder_.CreateInBoundsGEP(scalars_.MemoryType(scalar), sums_memory_, number);
}

/// The sum over the values of the same lane of each wave.
Value* TeamEmitter::SumOverWaves(ir::Scalar scalar, Value* mine) {
  llvm::Align alignment(ir::ByteSize(scalar));
  builder_.CreateAlignedStore(mine, PlaceOfSum(scalar, hooks_.InBlock()), alignment);
  Meet();
  Value *lane = hooks_.Wave()->Lane(builder_), *total = nullptr;
  for (uint32_t wave = 0; wave < hooks_.WavesOfBlock(); ++wave) {
    Value* number =
        builder_.CreateAdd(lane, builder_.getInt32(wave * hooks_.Wave()->Lanes()), "", true, true);
    Value* other = builder_.CreateAlignedLoad(mine->getType(), PlaceOfSum(scalar, number), alignment);
    total = total == nullptr ? other : scalars_.Emit(Op::Add, scalar, scalar, {total, other});
  }
  return total;
}

/// Halves the number of sums until there is one.
Value* TeamEmitter::SumOverTeam(ir::Scalar scalar, Value* mine) {
  llvm::Type* type = scalars_.MemoryType(scalar);
  llvm::Align alignment(ir::ByteSize(scalar));
  Value* thread = hooks_.InBlock();
  auto place = [&](Value* at) { return PlaceOfSum(scalar, at); };
  builder_.CreateAlignedStore(mine, place(thread), alignment);
  Meet();
  for (uint32_t left = threads_; left > 1;) {
    uint32_t half = (left + 1) / 2;
    EmitWhen(builder_, builder_.CreateICmpULT(thread, builder_.getInt32(left - half)), "add", "added", [&] {
      Value* own = builder_.CreateAlignedLoad(type, place(thread), alignment);
      Value* partner = builder_.CreateAdd(thread, builder_.getInt32(half), "", true, true);
      Value* other = builder_.CreateAlignedLoad(type, place(partner), alignment);
      Value* sum = scalars_.Emit(Op::Add, scalar, scalar, {own, other});
      builder_.CreateAlignedStore(sum, place(thread), alignment);
    });
    left = half;
    Meet();
  }
  return builder_.CreateAlignedLoad(type, place(builder_.getInt32(0)), alignment);
}

}  // namespace adc::codegen

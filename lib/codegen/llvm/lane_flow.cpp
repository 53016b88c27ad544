#include "codegen/llvm/lane_flow.h"

#include <algorithm>

#include "codegen/common/questions.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::OpClass, ir::Scalar;
using llvm::Value;

LaneFlow::LaneFlow(const ir::Function& function, llvm::IRBuilder<>& builder, TargetHooks& hooks,
                   FloatMode mode, LaneShape shape, const analysis::Uniform& uniform)
    : LaneVectors(builder, shape),
      function_(function),
      hooks_(hooks),
      scalars_(builder, hooks, mode, shape.count),
      uniform_(uniform) {}

/// A mask is as wide as the widest value that it chooses.
Value* LaneFlow::ToCarried(ir::Inst loop, Value* mask) {
  uint32_t bits = 32;
  for (uint32_t n = 0; n < function_[loop].result_count; ++n)
    bits = std::max(bits, ir::BitWidth(function_.TypeOf(function_.Result(loop, n)).scalar));
  return ToNumbers(mask, bits);
}

Value* LaneFlow::Get(ir::Value value) {
  if (IsShared(value)) return Splat(Shared(value));
  Value* known = values_.Get(value);
  ADC_CHECK(known != nullptr, "a value in lanes is used before it is emitted");
  return known;
}

Value* LaneFlow::Index(ir::Value value) {
  if (IsShared(value)) return Splat(SharedIndex(value));
  return builder_.CreateSExtOrTrunc(Get(value), InLanes(builder_.getInt64Ty()));
}

void LaneFlow::EmitBlock(ir::Block block) {
  const std::vector<ir::Inst>& insts = function_[block].insts;
  for (uint32_t position = 0; position < insts.size(); ++position) {
    ir::Inst inst = insts[position];
    const ir::InstData& data = function_[inst];
    if (ir::IsTerminator(data.op)) continue;
    SetPlace(inst);
    if (data.op == Op::For) {
      EmitFor(inst);
    } else if (data.op == Op::While) {
      EmitWhile(inst);
    } else if (data.op == Op::If) {
      EmitIf(inst);
    } else if (data.result_count == 1 && data.op != Op::Alloca && IsShared(function_.Result(inst))) {
      EmitShared(inst, position);
    } else if (ir::InfoOf(data.op).effect == ir::Effect::Pure) {
      EmitPure(inst, position);
    } else {
      EmitOther(inst, position);
    }
  }
}

bool LaneFlow::IsFunction(ir::Inst inst) const {
  Op op = function_[inst].op;
  return ir::ClassOf(op) == OpClass::Function ||
         (op == Op::Rem && ir::IsFloat(function_.TypeOf(function_.Result(inst)).scalar));
}

Value* LaneFlow::EmitOperation(ir::Inst inst, llvm::ArrayRef<Value*> operands) {
  if (IsFunction(inst)) return EmitFunction(inst, operands);
  Scalar result = function_.TypeOf(function_.Result(inst)).scalar;
  return scalars_.Emit(function_[inst].op, OperandScalar(function_, inst), result, operands);
}

void LaneFlow::EmitPure(ir::Inst inst, uint32_t) {
  llvm::SmallVector<Value*, 4> operands;
  for (ir::Value operand : function_.Operands(inst)) operands.push_back(Get(operand));
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  if (Decides(inst)) builder_.clearFastMathFlags();
  Bind(function_.Result(inst), EmitOperation(inst, operands));
  NotePure(inst);
}

// ---- branches ----

void LaneFlow::EmitIf(ir::Inst inst) {
  if (shape_.count == 0 || IsShared(function_.Operand(inst, 0))) return EmitBranch(inst);
  EmitChoice(inst);
}

/// All lanes take the same side, or there is one.
void LaneFlow::EmitBranch(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Value chooses = function_.Operand(inst, 0);
  Value* condition = IsShared(chooses) ? Shared(chooses) : Get(chooses);
  llvm::BasicBlock* sides[] = {NewBlock(builder_, "then"), NewBlock(builder_, "else")};
  llvm::BasicBlock* join = NewBlock(builder_, "if_end");
  builder_.CreateCondBr(condition, sides[0], sides[1]);
  std::vector<Value*> values[2];
  llvm::BasicBlock* ends[2];
  for (uint32_t side : {0u, 1u}) {
    builder_.SetInsertPoint(sides[side]);
    bool apart = EmitApart(data.regions[side], &values[side]);
    if (!apart) EmitBlock(data.regions[side]);
    for (uint32_t n = 0; n < data.result_count && !apart; ++n) {
      ir::Value yielded = function_.Operand(function_.Terminator(data.regions[side]), n);
      values[side].push_back(IsShared(function_.Result(inst, n)) ? Shared(yielded) : Get(yielded));
    }
    ends[side] = builder_.GetInsertBlock();
    builder_.CreateBr(join);
  }
  builder_.SetInsertPoint(join);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Value* phi = EmitPhi(builder_, values[0][n], ends[0], values[1][n], ends[1]);
    ir::Value result = function_.Result(inst, n);
    BindEither(result, phi, phi);
  }
}

/// A little arithmetic, which costs less than a branch around it.
bool LaneFlow::IsCheap(ir::Block block) const {
  constexpr size_t kMost = 8;
  const std::vector<ir::Inst>& insts = function_[block].insts;
  return insts.size() <= kMost && std::all_of(insts.begin(), insts.end(), [&](ir::Inst inst) {
           Op op = function_[inst].op;
           bool is_slow = ir::ClassOf(op) == OpClass::Function || op == Op::Rem;
           return ir::IsTerminator(op) || (ir::InfoOf(op).effect == ir::Effect::Pure && !is_slow);
         });
}

void LaneFlow::EmitChoice(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  Value* condition = Get(function_.Operand(inst, 0));
  Value* outer = mask_;
  std::vector<Value*> values[2];
  bool cheap = IsCheap(data.regions[0]) && IsCheap(data.regions[1]);
  EmitSide(inst, 0, builder_.CreateAnd(outer, condition), cheap, &values[0]);
  EmitSide(inst, 1, builder_.CreateAnd(outer, builder_.CreateNot(condition)), cheap, &values[1]);
  mask_ = outer;
  for (uint32_t n = 0; n < data.result_count; ++n)
    Bind(function_.Result(inst, n), builder_.CreateSelect(condition, values[0][n], values[1][n]));
}

void LaneFlow::EmitSide(ir::Inst inst, uint32_t side, Value* mask, bool always, std::vector<Value*>* values) {
  const ir::InstData& data = function_[inst];
  ir::Block block = data.regions[side];
  mask_ = mask;
  auto yield = [&] {
    for (uint32_t n = 0; n < data.result_count; ++n)
      values->push_back(Get(function_.Operand(function_.Terminator(block), n)));
  };
  if (always || function_[block].insts.size() <= 1) {
    EmitBlock(block);
    return yield();
  }
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* end = EmitWhen(builder_, Any(mask), "lanes_side", "lanes_join", [&] {
    EmitBlock(block);
    yield();
  });
  for (Value*& value : *values)
    value = EmitPhi(builder_, llvm::Constant::getNullValue(value->getType()), before, value, end);
}

// ---- loops ----

std::vector<LaneFlow::Carried> LaneFlow::BeginCarried(ir::Inst inst, uint32_t first, ir::Block block,
                                                      uint32_t first_param, llvm::BasicBlock* before) {
  std::vector<Carried> carried(function_[inst].result_count);
  std::vector<std::pair<Value*, Value*>> initial(carried.size());
  // Values that are carried in lanes are made before the loop, values that lanes share are bound in it.
  llvm::BasicBlock* loop = builder_.GetInsertBlock();
  builder_.SetInsertPoint(before->getTerminator());
  for (uint32_t n = 0; n < carried.size(); ++n) {
    Carried& one = carried[n];
    one.param = function_[block].params[first_param + n];
    one.result = function_.Result(inst, n);
    ir::Value value = function_.Operand(inst, first + n);
    if (IsShared(one.param)) initial[n].first = Shared(value);
    if (!IsShared(one.param) || !IsShared(one.result)) initial[n].second = Get(value);
  }
  builder_.SetInsertPoint(loop);
  for (uint32_t n = 0; n < carried.size(); ++n) {
    Carried& one = carried[n];
    if (initial[n].first != nullptr) {
      one.shared = BeginPhi(builder_, initial[n].first, before);
      BindShared(one.param, one.shared);
    }
    if (initial[n].second != nullptr) {
      one.lanes = BeginPhi(builder_, initial[n].second, before);
      if (one.shared == nullptr) Bind(one.param, one.lanes);
    }
  }
  return carried;
}

/// The values that the next trip carries, by place: the shared number and the lanes'.
std::vector<std::pair<Value*, Value*>> LaneFlow::Yielded(std::vector<Carried>& carried, ir::Block block,
                                                         Value* active) {
  std::vector<std::pair<Value*, Value*>> next;
  for (uint32_t n = 0; n < carried.size(); ++n) {
    ir::Value yielded = function_.Operand(function_.Terminator(block), n);
    Value* shared = carried[n].shared != nullptr ? Shared(yielded) : nullptr;
    Value* lanes = nullptr;
    if (carried[n].lanes != nullptr) {
      lanes = Get(yielded);
      if (active != nullptr) lanes = builder_.CreateSelect(active, lanes, carried[n].lanes);
    }
    next.emplace_back(shared, lanes);
  }
  return next;
}

void LaneFlow::EndCarried(std::vector<Carried>& carried, ir::Block block, Value* active,
                          llvm::BasicBlock* latch, std::vector<std::pair<Value*, Value*>>* next) {
  std::vector<std::pair<Value*, Value*>> yielded = Yielded(carried, block, active);
  for (uint32_t n = 0; n < carried.size(); ++n) {
    if (carried[n].shared != nullptr) carried[n].shared->addIncoming(yielded[n].first, latch);
    if (carried[n].lanes != nullptr) carried[n].lanes->addIncoming(yielded[n].second, latch);
  }
  if (next != nullptr) *next = std::move(yielded);
}

Value* LaneFlow::Step(ir::Inst inst) const {
  return builder_.getInt64(static_cast<uint64_t>(*function_.IntegerConstant(function_.Operand(inst, 2))));
}

/// The last index of a loop from `low` to `high`, which is not empty.
Value* LaneFlow::LastOf(ir::Inst inst, Value* low, Value* high) {
  Value* last = builder_.CreateSub(high, llvm::ConstantInt::get(high->getType(), 1));
  if (*function_.IntegerConstant(function_.Operand(inst, 2)) == 1) return last;
  Value* step = low->getType()->isVectorTy() ? Splat(Step(inst)) : Step(inst);
  Value* distance = builder_.CreateUDiv(builder_.CreateSub(last, low), step);
  return builder_.CreateAdd(low, builder_.CreateMul(distance, step));
}

void LaneFlow::EmitFor(ir::Inst inst) {
  bool low = IsShared(function_.Operand(inst, 0)), high = IsShared(function_.Operand(inst, 1));
  if (!low) return EmitCountedFor(inst);
  if (!high) return EmitSteppedFor(inst);
  EmitSharedFor(inst);
}

/// All lanes make the same trips.
void LaneFlow::EmitSharedFor(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Block body = data.regions[0];
  bool reversed = data.Has(ir::Word::Reversed);
  Value* low = SharedIndex(function_.Operand(inst, 0));
  Value* high = SharedIndex(function_.Operand(inst, 1));
  Value* last = LastOf(inst, low, high);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = NewBlock(builder_, "lanes_for");
  llvm::BasicBlock* exit = NewBlock(builder_, "lanes_for_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(low, high), loop, exit);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = BeginPhi(builder_, reversed ? last : low, before);
  std::vector<Carried> carried = BeginCarried(inst, 3, body, 1, before);
  BindCounter(function_[body].params[0], counter);
  EmitBlock(body);
  SetPlace(inst);
  std::vector<std::pair<Value*, Value*>> next;
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  EndCarried(carried, body, nullptr, latch, &next);
  counter->addIncoming(
      reversed ? builder_.CreateSub(counter, Step(inst)) : builder_.CreateAdd(counter, Step(inst)), latch);
  builder_.CreateCondBr(builder_.CreateICmpNE(counter, reversed ? low : last), loop, exit);
  builder_.SetInsertPoint(exit);
  auto join = [&](llvm::PHINode* inside, Value* yielded) {
    return EmitPhi(builder_, inside->getIncomingValueForBlock(before), before, yielded, latch);
  };
  for (uint32_t n = 0; n < carried.size(); ++n) {
    if (IsShared(carried[n].result)) {
      BindShared(carried[n].result, join(carried[n].shared, next[n].first));
    } else {
      Bind(carried[n].result, join(carried[n].lanes, next[n].second));
    }
  }
}

/// All lanes count from one number, or down to it; they have as many trips as the longest of them.
void LaneFlow::EmitSteppedFor(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Block body = data.regions[0];
  bool reversed = data.Has(ir::Word::Reversed);
  Value* low = SharedIndex(function_.Operand(inst, 0));
  Value* high = builder_.CreateSelect(mask_, Index(function_.Operand(inst, 1)), Splat(low));
  Value* top = Greatest(high);
  Value* last = LastOf(inst, low, top);
  Value* any = builder_.CreateICmpSLT(low, top);
  Value* outer = mask_;
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = NewBlock(builder_, "lanes_for");
  llvm::BasicBlock* latch = NewBlock(builder_, "lanes_for_next");
  llvm::BasicBlock* exit = NewBlock(builder_, "lanes_for_end");
  // The loop is left in front of its first trip from `entry`, so that results are what is carried there.
  llvm::BasicBlock* entry = NewBlock(builder_, "lanes_for_entry");
  GoOnIn(builder_, entry);
  llvm::PHINode* counter = BeginPhi(builder_, reversed ? last : low, before);
  llvm::PHINode* more = BeginPhi(builder_, any, before);
  std::vector<Carried> carried = BeginCarried(inst, 3, body, 1, before);
  builder_.CreateCondBr(more, loop, exit);
  builder_.SetInsertPoint(loop);
  mask_ = builder_.CreateAnd(outer, builder_.CreateICmpSLT(Splat(counter), high));
  Value* active = mask_;
  BindCounter(function_[body].params[0], counter);
  EmitBlock(body);
  SetPlace(inst);
  GoOnIn(builder_, latch);
  EndCarried(carried, body, active, latch);
  counter->addIncoming(
      reversed ? builder_.CreateSub(counter, Step(inst)) : builder_.CreateAdd(counter, Step(inst)), latch);
  more->addIncoming(builder_.CreateICmpNE(counter, reversed ? low : last), latch);
  builder_.CreateBr(entry);
  builder_.SetInsertPoint(exit);
  mask_ = outer;
  for (Carried& one : carried) Bind(one.result, one.lanes);
}

/// Each lane counts for itself.
void LaneFlow::EmitCountedFor(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Block body = data.regions[0];
  bool reversed = data.Has(ir::Word::Reversed);
  Value* low = Index(function_.Operand(inst, 0));
  Value* high = Index(function_.Operand(inst, 1));
  Value* last = LastOf(inst, low, high);
  Value* step = Splat(Step(inst));
  Value* outer = mask_;
  Value* enters = builder_.CreateAnd(outer, builder_.CreateICmpSLT(low, high));
  Value* enters_phi = ToCarried(inst, enters);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* entry = NewBlock(builder_, "lanes_for");
  llvm::BasicBlock* loop = NewBlock(builder_, "lanes_for_do");
  llvm::BasicBlock* exit = NewBlock(builder_, "lanes_for_end");
  GoOnIn(builder_, entry);
  llvm::PHINode* counter = BeginPhi(builder_, reversed ? last : low, before);
  llvm::PHINode* going = BeginPhi(builder_, enters_phi, before);
  std::vector<Carried> carried = BeginCarried(inst, 3, body, 1, before);
  mask_ = FromNumbers(going);
  builder_.CreateCondBr(Any(going), loop, exit);
  builder_.SetInsertPoint(loop);
  Value* active = mask_;
  ir::Value index = function_[body].params[0];
  Bind(index, builder_.CreateTrunc(counter, scalars_.RegisterType(function_.TypeOf(index).scalar)));
  EmitBlock(body);
  SetPlace(inst);
  Value* before_last = builder_.CreateICmpNE(counter, reversed ? low : last);
  Value* next = reversed ? builder_.CreateSub(counter, step) : builder_.CreateAdd(counter, step);
  Value* next_going = builder_.CreateAnd(going, ToCarried(inst, before_last));
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  EndCarried(carried, body, active, latch);
  counter->addIncoming(next, latch);
  going->addIncoming(next_going, latch);
  builder_.CreateBr(entry);
  builder_.SetInsertPoint(exit);
  mask_ = outer;
  for (Carried& one : carried) Bind(one.result, one.lanes);
}

void LaneFlow::EmitWhile(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  bool bounded = data.Has(ir::Word::HasMax);
  ir::Block test = data.regions[0], body = data.regions[1];
  // Trips are counted in the type of the bound, which is above them as long as a lane goes on.
  Value* limit = bounded ? Get(function_.Operand(inst, 0)) : nullptr;
  llvm::Type* count = bounded ? limit->getType()->getScalarType() : nullptr;
  Value* outer = mask_;
  Value* outer_phi = ToCarried(inst, outer);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* header = NewBlock(builder_, "lanes_while");
  llvm::BasicBlock* inside = NewBlock(builder_, "lanes_do");
  llvm::BasicBlock* exit = NewBlock(builder_, "lanes_while_end");
  GoOnIn(builder_, header);
  llvm::PHINode* going = BeginPhi(builder_, outer_phi, before, "going");
  llvm::PHINode* trips =
      bounded ? BeginPhi(builder_, llvm::ConstantInt::get(count, 0), before, "trips") : nullptr;
  std::vector<Carried> carried = BeginCarried(inst, bounded ? 1 : 0, test, 0, before);
  Value* goes_on = going;
  if (bounded)
    goes_on = builder_.CreateAnd(going, ToCarried(inst, builder_.CreateICmpSLT(Splat(trips), limit)));
  mask_ = FromNumbers(goes_on);
  if (bounded && !IsCheap(test)) {
    // At the bound the loop ends before its test, which may read what only exists for fewer iterations.
    llvm::BasicBlock* within = NewBlock(builder_, "lanes_test");
    builder_.CreateCondBr(Any(goes_on), within, exit);
    builder_.SetInsertPoint(within);
  }
  const std::vector<ir::Value>& params = function_[body].params;
  for (uint32_t n = 0; n < params.size() && n < carried.size(); ++n) {
    if (IsShared(params[n]) && carried[n].shared != nullptr) {
      BindShared(params[n], carried[n].shared);
    } else {
      Bind(params[n], Get(carried[n].param));
    }
  }
  EmitBlock(test);
  goes_on =
      builder_.CreateAnd(goes_on, ToCarried(inst, Get(function_.Operand(function_.Terminator(test), 0))));
  mask_ = FromNumbers(goes_on);
  Value* active = mask_;
  builder_.CreateCondBr(Any(goes_on), inside, exit);
  builder_.SetInsertPoint(inside);
  EmitBlock(body);
  SetPlace(inst);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  EndCarried(carried, body, active, latch);
  going->addIncoming(goes_on, latch);
  if (bounded) trips->addIncoming(builder_.CreateAdd(trips, llvm::ConstantInt::get(count, 1)), latch);
  builder_.CreateBr(header);
  builder_.SetInsertPoint(exit);
  mask_ = outer;
  for (Carried& one : carried) BindEither(one.result, one.shared, one.lanes);
}

}  // namespace adc::codegen

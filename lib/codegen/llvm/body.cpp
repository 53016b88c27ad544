#include "codegen/llvm/body.h"

#include <utility>

#include "codegen/llvm/body_turns.h"
#include "ir/words.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::OpClass, ir::Scalar;
using llvm::Value;

BodyEmitter::BodyEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
                         TargetHooks& hooks, FloatMode float_mode, const AliasScopes& aliases,
                         DebugLines* lines)
    : BodyTables(module, kernel, builder, hooks, float_mode, aliases),
      BodyPart(*this, part, *BodyTables::sums, lines),
      team_(*this) {}

void BodyEmitter::EmitBlock(ir::Block block) {
  const std::vector<ir::Inst>& insts = kernel_[block].insts;
  auto count = static_cast<uint32_t>(insts.size());
  if (count != 0 && ir::IsTerminator(kernel_[insts.back()].op)) --count;
  EmitRange(block, 0, count);
}

void BodyEmitter::EmitRange(ir::Block block, uint32_t first, uint32_t last) {
  const std::vector<ir::Inst>& insts = kernel_[block].insts;
  EmitWithPairs([&] {
    if (team_.IsOpen()) return team_.EmitRange(block, first, last);
    llvm::BasicBlock* piece = nullptr;
    for (uint32_t position = first; position < last; ++position) {
      if (pieces_ != nullptr && kernel_[insts[position]].Has(ir::Word::Cut)) {
        EndPiece(piece);
        piece = NextBlock("piece");
      }
      EmitInst(insts[position]);
    }
    EndPiece(piece);
  });
}

void BodyEmitter::EmitInsts(std::span<const ir::Inst> insts) {
  EmitWithPairs([&] {
    for (ir::Inst inst : insts) EmitInst(inst);
  });
}

void BodyEmitter::EmitWithPairs(llvm::function_ref<void()> emit) {
  std::map<uint32_t, Value*> pairs;
  std::map<uint32_t, Value*>* around = std::exchange(pairs_, &pairs);
  emit();
  pairs_ = around;
  sums_.Flush();
}

llvm::BasicBlock* BodyEmitter::NextBlock(const char* name) {
  llvm::BasicBlock* next = NewBlock(builder_, name);
  GoOnIn(builder_, next);
  return next;
}

void BodyEmitter::EndPiece(llvm::BasicBlock* begin) {
  if (begin != nullptr) pieces_->push_back({begin, NextBlock("piece_end")});
}

void BodyEmitter::EmitPaired(ir::Inst inst) {
  ir::Value angle = kernel_.Operand(inst, 0), result = kernel_.Result(inst);
  auto made = pairs_->find(angle.raw);
  if (made != pairs_->end()) {
    values_.Bind(result, made->second);
    pairs_->erase(made);
    return;
  }
  auto [sine, cosine] =
      hooks_.CallSinCos(kernel_.TypeOf(result).scalar, values_.Get(angle), kernel_[inst].words);
  bool is_sine = kernel_[inst].op == Op::Sin;
  values_.Bind(result, is_sine ? sine : cosine);
  pairs_->emplace(angle.raw, is_sine ? cosine : sine);
}

void BodyEmitter::EmitPure(ir::Inst inst) {
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  if (kernel_[inst].Has(ir::Word::AsWritten)) builder_.clearFastMathFlags();
  values_.EmitPure(inst);
}

void BodyEmitter::EmitAccess(ir::Inst inst) {
  bool asks = runs_all_ != nullptr && IsAtomicUpdate(kernel_, inst) && !kernel_[inst].Has(ir::Word::Private);
  auto emit = [&] {
    if (!sums_.Accumulate(inst)) return memory_.EmitAccess(inst);
    // Nothing reads the old value of a sum, which has none.
    if (asks && kernel_[inst].result_count != 0) {
      ir::Value old = kernel_.Result(inst);
      values_.BindAnew(old, llvm::PoisonValue::get(scalars_.RegisterType(kernel_.TypeOf(old).scalar)));
    }
  };
  if (!asks) return emit();
  auto emit_alone = [&] {
    memory_.SetAlone(true);
    memory_.EmitAccess(inst);
    memory_.SetAlone(false);
  };
  EmitForms(inst, runs_all_, emit_alone, emit);
}

void BodyEmitter::EmitForms(ir::Inst inst, Value* shared, llvm::function_ref<void()> emit_together,
                            llvm::function_ref<void()> emit_alone) {
  llvm::BasicBlock *together = NewBlock(builder_, "together"), *alone = NewBlock(builder_, "alone"),
                   *join = NewBlock(builder_, "joined");
  llvm::SmallVector<llvm::PHINode*> results;
  auto join_from_here = [&] {
    builder_.CreateBr(join);
    for (uint32_t n = 0; n < kernel_[inst].result_count; ++n) {
      Value* result = values_.Get(kernel_.Result(inst, n));
      if (results.size() == n) results.push_back(llvm::PHINode::Create(result->getType(), 2, "", join));
      results[n]->addIncoming(result, builder_.GetInsertBlock());
    }
  };
  builder_.CreateCondBr(shared, together, alone);
  builder_.SetInsertPoint(together);
  emit_together();
  join_from_here();
  builder_.SetInsertPoint(alone);
  alone_ = true;
  emit_alone();
  alone_ = false;
  join_from_here();
  builder_.SetInsertPoint(join);
  for (uint32_t n = 0; n < results.size(); ++n) values_.BindAnew(kernel_.Result(inst, n), results[n]);
}

void BodyEmitter::EmitInst(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  if (ir::InfoOf(data.op).effect != ir::Effect::Pure && !ir::ReductionOf(data.op)) sums_.Flush();
  SetPlace(inst);
  switch (ir::ClassOf(data.op)) {
    case OpClass::Arithmetic:
    case OpClass::Function:
    case OpClass::Compare:
    case OpClass::Bits:
    case OpClass::Convert:
      return data.Has(ir::Word::Paired) ? EmitPaired(inst) : EmitPure(inst);
    case OpClass::Vector:
      // Of a parameter; others are scalars by now.
      if (data.op != Op::VecGet && data.op != Op::MatGet) break;
      return EmitParameterComponent(inst);
    case OpClass::Shape:
      return values_.EmitShape(inst);
    case OpClass::Access:
    case OpClass::Atomic:
      return EmitAccess(inst);
    case OpClass::Local:
      return memory_.EmitAlloca(inst);
    case OpClass::Control:
      if (data.op == Op::For) return EmitFor(inst);
      if (data.op == Op::While) return EmitWhile(inst);
      if (data.op == Op::If) return EmitIf(inst);
      break;
    case OpClass::Check:
      return EmitCheck(inst);
    case OpClass::Row:
      return EmitRow(inst);
    case OpClass::Composed:
    case OpClass::Random:
    case OpClass::Terminator:
    case OpClass::Stack:
      break;
  }
  ADC_UNREACHABLE("an operation that lowering removes reaches code generation");
}

void BodyEmitter::EmitCheck(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  if (data.op == Op::Print) return;
  ADC_CHECK(data.op == Op::StatusRaise, "a check that raising makes a branch of");
  Value* needed = data.operand_count != 0 ? values_.Index(kernel_.Operand(inst, 0)) : nullptr;
  hooks_.Raise(CodeOf(data), data.component, needed);
}

void BodyEmitter::EmitRow(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  if (data.op == Op::RowLoad || data.op == Op::RowStore) return memory_.EmitRowAccess(inst);
  ADC_CHECK(data.op == Op::RowClaim || data.op == Op::RowCapacity, "an operation of rows that is not known");
  Value* wide = data.op == Op::RowClaim ? hooks_.Row(data.attr) : hooks_.StackCapacity(data.attr);
  ir::Value result = kernel_.Result(inst);
  values_.Bind(result, builder_.CreateTrunc(wide, scalars_.RegisterType(kernel_.TypeOf(result).scalar)));
}

void BodyEmitter::EmitParameterComponent(ir::Inst inst) {
  uint32_t param = kernel_[kernel_.Operand(inst, 0)].number;
  values_.Bind(kernel_.Result(inst), hooks_.ParameterComponent(param, ParameterComponentOf(kernel_, inst)));
}

/// Several turns at once, as `turns` says.
void BodyEmitter::UnrollTurns(llvm::BranchInst* latch, uint32_t turns) {
  if (turns == ir::kNoAttr) return;
  llvm::LLVMContext& context = builder_.getContext();
  llvm::Metadata* wish[] = {llvm::MDString::get(context, "llvm.loop.unroll.count"),
                            llvm::ConstantAsMetadata::get(builder_.getInt32(turns))};
  latch->setMetadata(llvm::LLVMContext::MD_loop, LoopNode(context, llvm::MDNode::get(context, wish)));
}

void BodyEmitter::EmitFor(ir::Inst inst) {
  // Around loops that are apart one wave of a team sums up.
  Value* shared = alone_ || team_.IsOpen() ? nullptr : sums_.ShareTurns(inst);
  if (shared == nullptr) return EmitLoop(inst);
  EmitForms(inst, shared, [&] { TurnsTogether(*this, inst).EmitLoop(); }, [&] { EmitLoop(inst); });
}

void BodyEmitter::EmitLoop(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  ir::Block body = data.regions[0];
  const std::vector<ir::Value>& params = kernel_[body].params;
  bool reversed = data.Has(ir::Word::Reversed);
  ir::Value low_value = kernel_.Operand(inst, 0), high_value = kernel_.Operand(inst, 1);
  Value* low = values_.Index(low_value);
  Value* high = values_.Index(high_value);
  int64_t step = *kernel_.IntegerConstant(kernel_.Operand(inst, 2));
  Value* step_value = builder_.getInt64(static_cast<uint64_t>(step));
  // Counters of 32-bit loops never leave 64 bits. A 64-bit loop with a longer step counts to the last index,
  // which it reaches exactly, instead of stepping over the bound.
  bool is_narrow = kernel_.TypeOf(low_value).Is(Scalar::I32);
  bool may_overstep = !is_narrow && step != 1;
  bool exact = reversed || may_overstep;
  Value* last = nullptr;
  Value* one = builder_.getInt64(1);
  if (exact) {
    last = builder_.CreateSub(high, one);
    if (step != 1) {
      Value* distance = builder_.CreateUDiv(builder_.CreateSub(last, low), step_value);
      last = builder_.CreateAdd(low, builder_.CreateMul(distance, step_value));
    }
  }
  llvm::SmallVector<Value*> initial = values_.GetAll(kernel_.Operands(inst).subspan(3));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* loop = NewBlock(builder_, "for");
  llvm::BasicBlock* exit = NewBlock(builder_, "for_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(low, high), loop, exit);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* counter = BeginPhi(builder_, reversed ? last : low, before);
  llvm::SmallVector<llvm::PHINode*> carried = Phis(initial, before);
  values_.BindCounter(params[0], counter);
  for (size_t n = 0; n < carried.size(); ++n) values_.Bind(params[n + 1], carried[n]);
  EmitBlock(body);
  llvm::SmallVector<Value*> yielded = Yielded(body);
  SetPlace(inst);
  sums_.EndTurn(inst, 0, 1);
  Value* next = reversed ? builder_.CreateSub(counter, step_value, "", false, !may_overstep)
                         : builder_.CreateAdd(counter, step_value, "", false, !may_overstep);
  Value* more = may_overstep ? builder_.CreateICmpNE(counter, reversed ? low : last)
                : reversed   ? builder_.CreateICmpSGT(counter, low)
                             : builder_.CreateICmpSLT(next, high);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  counter->addIncoming(next, latch);
  AddIncoming(carried, yielded, latch);
  UnrollTurns(builder_.CreateCondBr(more, loop, exit), data.component);
  builder_.SetInsertPoint(exit);
  llvm::SmallVector<Value*> results = Join(initial, before, yielded, latch);
  for (uint32_t n = 0; n < data.result_count; ++n) values_.Bind(kernel_.Result(inst, n), results[n]);
}

void BodyEmitter::EmitWhile(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  bool bounded = data.Has(ir::Word::HasMax);
  ir::Block test = data.regions[0], body = data.regions[1];
  Value* limit = bounded ? values_.Index(kernel_.Operand(inst, 0)) : nullptr;
  llvm::SmallVector<Value*> initial = values_.GetAll(kernel_.Operands(inst).subspan(bounded ? 1 : 0));
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* header = NewBlock(builder_, "while");
  llvm::BasicBlock* inside = NewBlock(builder_, "while_do");
  llvm::BasicBlock* exit = NewBlock(builder_, "while_end");
  GoOnIn(builder_, header);
  llvm::SmallVector<llvm::PHINode*> carried = Phis(initial, before);
  llvm::PHINode* trips = bounded ? BeginPhi(builder_, builder_.getInt64(0), before) : nullptr;
  const std::vector<ir::Value>& params = kernel_[test].params;
  for (size_t n = 0; n < carried.size(); ++n) values_.Bind(params[n], carried[n]);
  if (bounded) {
    // At the bound the loop ends before its test, which may read what only exists for fewer iterations.
    llvm::BasicBlock* within = NewBlock(builder_, "while_test");
    builder_.CreateCondBr(builder_.CreateICmpSLT(trips, limit), within, exit);
    builder_.SetInsertPoint(within);
  }
  EmitBlock(test);
  builder_.CreateCondBr(Yielded(test)[0], inside, exit);
  builder_.SetInsertPoint(inside);
  EmitBlock(body);
  llvm::SmallVector<Value*> yielded = Yielded(body);
  SetPlace(inst);
  Value* next_trip = bounded ? builder_.CreateNSWAdd(trips, builder_.getInt64(1)) : nullptr;
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  AddIncoming(carried, yielded, latch);
  if (bounded) trips->addIncoming(next_trip, latch);
  builder_.CreateBr(header);
  builder_.SetInsertPoint(exit);
  for (uint32_t n = 0; n < data.result_count; ++n) values_.Bind(kernel_.Result(inst, n), carried[n]);
}

void BodyEmitter::EmitIf(ir::Inst inst) {
  Value* condition = values_.Get(kernel_.Operand(inst, 0));
  Value* shared = alone_ ? nullptr : sums_.ShareBranch(inst, condition);
  if (shared == nullptr) return EmitBranch(inst);
  EmitForms(inst, shared, [&] { BranchTogether(*this).Emit(inst, condition); }, [&] { EmitBranch(inst); });
}

void BodyEmitter::EmitBranch(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  bool has_else = HasElse(kernel_, inst);
  Value* condition = values_.Get(kernel_.Operand(inst, 0));
  llvm::BasicBlock* then_block = NewBlock(builder_, "then");
  llvm::BasicBlock* else_block = has_else ? NewBlock(builder_, "else") : nullptr;
  llvm::BasicBlock* join = NewBlock(builder_, "if_end");
  builder_.CreateCondBr(condition, then_block, has_else ? else_block : join);
  llvm::BasicBlock* ends[2] = {};
  llvm::SmallVector<Value*> values[2];
  for (uint32_t side = 0; side < (has_else ? 2u : 1u); ++side) {
    builder_.SetInsertPoint(side == 0 ? then_block : else_block);
    bool tells = data.Has(side == 0 ? ir::Word::ThenCounters : ir::Word::ElseCounters);
    if (tells && tell_counters_) tell_counters_();
    EmitBlock(data.regions[side]);
    if (data.result_count != 0) values[side] = Yielded(data.regions[side]);
    SetPlace(inst);
    builder_.CreateBr(join);
    ends[side] = builder_.GetInsertBlock();
  }
  builder_.SetInsertPoint(join);
  if (data.result_count == 0) return;
  llvm::SmallVector<Value*> results = Join(values[0], ends[0], values[1], ends[1]);
  for (uint32_t n = 0; n < data.result_count; ++n) values_.Bind(kernel_.Result(inst, n), results[n]);
}

}  // namespace adc::codegen

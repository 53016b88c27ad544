// Loops whose turns the lanes of a wave sum up together (turn_sums.h), and branches that hold one.
//
//   if %c {                    branch %c { ... }
//     ...                      for %j in 0..%n {        by all lanes of the wave
//     for %j in 0..%n {          branch %c { ... }
//       ...               ->     add_to %w.adj[%j], (%c ? %v : nothing)
//       add_to %w.adj[%j], %v  }
//     }
//   }
//
// As long as all lanes are there, their exchanges know at compile time who they are; and lanes that a branch
// has sent apart sum up much slower. The code of a loop has a second form, for lanes that do not agree.

#include <algorithm>

#include "codegen/common/turn_cells.h"
#include "codegen/llvm/body.h"

namespace adc::codegen {

using llvm::Value;

/// Two forms of the code, of which `shared` chooses. Results are those of `inst`.
void BodyEmitter::EmitForms(ir::Inst inst, Value* shared, llvm::function_ref<void()> emit_together,
                            llvm::function_ref<void()> emit_alone) {
  llvm::BasicBlock *together = NewBlock("together"), *alone = NewBlock("alone"), *join = NewBlock("joined");
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

void BodyEmitter::EmitFor(ir::Inst inst) {
  // Around loops that are apart one wave of a team sums up.
  Value* shared = alone_ || team_ != 0 ? nullptr : sums_->ShareTurns(inst);
  if (shared == nullptr) return EmitLoop(inst);
  EmitForms(inst, shared, [&] { EmitTogether(inst, nullptr); }, [&] { EmitLoop(inst); });
}

void BodyEmitter::EmitIf(ir::Inst inst) {
  Value* condition = values_.Get(kernel_.Operand(inst, 0));
  Value* shared = alone_ ? nullptr : sums_->ShareBranch(inst, condition);
  if (shared == nullptr) return EmitBranch(inst);
  EmitForms(inst, shared, [&] { EmitBranchTogether(inst, condition); }, [&] { EmitBranch(inst); });
}

void BodyEmitter::EmitBranchTogether(ir::Inst inst, Value* condition) {
  const std::vector<ir::Inst>& insts = kernel_[kernel_[inst].regions[0]].insts;
  std::vector<ir::Inst> run;
  for (ir::Inst inside : insts) {
    bool is_shared = kernel_[inside].op == ir::Op::For && !TurnCellsOf(kernel_, inside).sums.empty();
    if (!is_shared && !ir::IsTerminator(kernel_[inside].op)) {
      run.push_back(inside);
      continue;
    }
    EmitGuarded(run, condition);
    run.clear();
    if (is_shared) EmitTogether(inside, condition);
  }
}

/// The results of the instructions are zero in lanes without the guard.
void BodyEmitter::EmitGuarded(std::span<const ir::Inst> insts, Value* guard) {
  if (insts.empty()) return;
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *guarded = NewBlock("guarded"),
                   *join = NewBlock("guarded_end");
  builder_.CreateCondBr(guard, guarded, join);
  builder_.SetInsertPoint(guarded);
  auto for_each_result = [&](auto visit) {
    for (ir::Inst inst : insts) {
      for (uint32_t n = 0; n < kernel_[inst].result_count; ++n) visit(kernel_.Result(inst, n));
    }
  };
  for_each_result([&](ir::Value v) { values_.BindAnew(v, nullptr); });
  EmitInsts(insts);
  llvm::BasicBlock* end = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  for_each_result([&](ir::Value v) {
    Value* made = values_.Find(v);
    if (made == nullptr) return;
    llvm::PHINode* result = builder_.CreatePHI(made->getType(), 2);
    result->addIncoming(made, end);
    result->addIncoming(llvm::Constant::getNullValue(made->getType()), before);
    values_.BindAnew(v, result);
  });
}

void BodyEmitter::EmitTogether(ir::Inst inst, Value* guard) {
  TurnRange turns = RangeOf(inst, guard);
  llvm::SmallVector<Value*> starts;
  for (uint32_t n = 0; n < kernel_[inst].result_count; ++n)
    starts.push_back(values_.Get(kernel_.Operand(inst, 3 + n)));
  llvm::SmallVector<Value*> carried = EmitTurnsTogether(turns, starts);
  for (uint32_t n = 0; n < carried.size(); ++n) values_.BindAnew(kernel_.Result(inst, n), carried[n]);
}

/// All turns of a loop.
BodyEmitter::TurnRange BodyEmitter::RangeOf(ir::Inst inst, Value* guard) {
  Value *low = values_.Index(kernel_.Operand(inst, 0)), *high = values_.Index(kernel_.Operand(inst, 1));
  int64_t step = *kernel_.IntegerConstant(kernel_.Operand(inst, 2));
  Value* distance =
      builder_.CreateAdd(builder_.CreateSub(high, low), builder_.getInt64(static_cast<uint64_t>(step - 1)));
  if (step != 1) distance = builder_.CreateUDiv(distance, builder_.getInt64(static_cast<uint64_t>(step)));
  Value* count = builder_.CreateSelect(builder_.CreateICmpSLT(low, high), distance, builder_.getInt64(0));
  return {inst, guard, low, count};
}

/// Several turns one after the other: loads and sums of different turns do not wait for one another.
/// `carried`: from what the turns start. Gives the values that they carry.
llvm::SmallVector<Value*> BodyEmitter::EmitTurnsTogether(const TurnRange& turns,
                                                         llvm::SmallVector<Value*> carried) {
  constexpr uint32_t kMost = 4, kMostInstructions = 256;
  const std::vector<ir::Inst>& insts = kernel_[kernel_[turns.loop].regions[0]].insts;
  // Each copy has arrays of its own, and code of its own for what is inside of a turn.
  auto is_large = [&](ir::Inst inside) {
    return kernel_.RegionCount(inside) != 0 || kernel_[inside].op == ir::Op::Alloca;
  };
  uint32_t copies = std::ranges::any_of(insts, is_large) ? 1 : kMost;
  while (copies > 1 && copies * insts.size() > kMostInstructions) copies /= 2;
  Value* whole = builder_.CreateAnd(turns.count, builder_.getInt64(~uint64_t{copies - 1}));
  sums_->BeginTurns(turns.loop);
  carried = EmitCopies(turns, builder_.getInt64(0), whole, copies, carried);
  if (copies != 1) carried = EmitCopies(turns, whole, turns.count, 1, carried);
  sums_->EndTurns();
  return carried;
}

/// The turns from `first` up to `end`, `copies` in each round. Gives what they carry.
llvm::SmallVector<Value*> BodyEmitter::EmitCopies(const TurnRange& turns, Value* first, Value* end,
                                                  uint32_t copies, const llvm::SmallVector<Value*>& starts) {
  ir::Inst inst = turns.loop;
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *loop = NewBlock("for"), *exit = NewBlock("for_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(first, end), loop, exit);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* turn = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  turn->addIncoming(first, before);
  llvm::SmallVector<llvm::PHINode*> phis;
  llvm::SmallVector<Value*> carried;
  for (Value* start : starts) {
    phis.push_back(builder_.CreatePHI(start->getType(), 2));
    phis.back()->addIncoming(start, before);
    carried.push_back(phis.back());
  }
  // First what all turns compute, so that no load of one waits for the exchanges of another.
  EmitRound(turns, turn, copies, carried);
  SetPlace(inst);
  for (uint32_t copy = 0; copy < copies; ++copy) sums_->EndTurn(inst, copy, copies);
  Value* next = builder_.CreateAdd(turn, builder_.getInt64(copies), "", true, true);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  turn->addIncoming(next, latch);
  for (size_t n = 0; n < phis.size(); ++n) phis[n]->addIncoming(carried[n], latch);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), loop, exit);
  builder_.SetInsertPoint(exit);
  llvm::SmallVector<Value*> results;
  for (size_t n = 0; n < phis.size(); ++n) {
    results.push_back(builder_.CreatePHI(starts[n]->getType(), 2));
    llvm::cast<llvm::PHINode>(results[n])->addIncoming(starts[n], before);
    llvm::cast<llvm::PHINode>(results[n])->addIncoming(carried[n], latch);
  }
  return results;
}

/// Emits `copies` turns from `first` on. `carried`: the values from which they start, and then those that
/// they carry.
void BodyEmitter::EmitRound(const TurnRange& turns, Value* first, uint32_t copies,
                            llvm::SmallVector<Value*>& carried) {
  if (turns.guard != nullptr) return EmitGuardedRound(turns, first, copies, carried);
  ir::Block body = kernel_[turns.loop].regions[0];
  for (uint32_t copy = 0; copy < copies; ++copy) {
    BeginTurn(turns, first, copy, carried);
    EmitBlock(body);
    carried = Yielded(body);
  }
}

/// Binds what turn `first + copy` begins with.
void BodyEmitter::BeginTurn(const TurnRange& turns, Value* first, uint32_t copy,
                            const llvm::SmallVector<Value*>& carried) {
  const std::vector<ir::Value>& params = kernel_[kernel_[turns.loop].regions[0]].params;
  Value* number = builder_.CreateAdd(first, builder_.getInt64(copy), "", true, true);
  bool reversed = kernel_[turns.loop].Has(ir::Word::Reversed);
  if (reversed) number = builder_.CreateSub(builder_.CreateSub(turns.count, builder_.getInt64(1)), number);
  number = builder_.CreateMul(number, values_.Index(kernel_.Operand(turns.loop, 2)));
  values_.BindCounter(params[0], builder_.CreateAdd(turns.low, number, "", false, true));
  for (size_t n = 0; n < carried.size(); ++n) values_.BindAnew(params[n + 1], carried[n]);
}

/// Lanes without the guard add nothing to the cells, which all lanes know. One branch holds what all turns
/// compute.
void BodyEmitter::EmitGuardedRound(const TurnRange& turns, Value* first, uint32_t copies,
                                   llvm::SmallVector<Value*>& carried) {
  ir::Block body = kernel_[turns.loop].regions[0];
  std::vector<ir::Inst> sums = TurnCellsOf(kernel_, turns.loop).sums, computed;
  for (ir::Inst inst : kernel_[body].insts) {
    if (std::ranges::find(sums, inst) == sums.end() && !ir::IsTerminator(kernel_[inst].op))
      computed.push_back(inst);
  }
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *guarded = NewBlock("guarded"),
                   *join = NewBlock("guarded_end");
  builder_.CreateCondBr(turns.guard, guarded, join);
  builder_.SetInsertPoint(guarded);
  llvm::SmallVector<Value*> starts = carried, own;
  for (uint32_t copy = 0; copy < copies; ++copy) {
    BeginTurn(turns, first, copy, carried);
    EmitInsts(computed);
    for (ir::Inst sum : sums) own.push_back(values_.Get(kernel_.AccessValues(sum)[0]));
    carried = Yielded(body);
  }
  llvm::BasicBlock* end = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  auto joined = [&](Value* made, Value* otherwise) {
    llvm::PHINode* result = builder_.CreatePHI(made->getType(), 2);
    result->addIncoming(made, end);
    result->addIncoming(otherwise, before);
    return result;
  };
  for (size_t n = 0; n < carried.size(); ++n) carried[n] = joined(carried[n], starts[n]);
  for (size_t n = 0; n < own.size(); ++n) {
    ir::Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(sums[n % sums.size()])[0]).scalar;
    own[n] = joined(own[n], scalars_.Constant(scalar, StartOf(ir::Reduction::Add, scalar)));
  }
  std::vector<ir::Inst> slice = SliceOf(kernel_, turns.loop, sums);
  for (uint32_t copy = 0; copy < copies; ++copy) {
    BeginTurn(turns, first, copy, starts);
    EmitInsts(slice);
    for (size_t n = 0; n < sums.size(); ++n) {
      ir::Value operand = kernel_.AccessValues(sums[n])[0];
      Value* before_join = values_.Get(operand);  // values from around the loop are read after it, too
      values_.BindAnew(operand, own[copy * sums.size() + n]);
      EmitInst(sums[n]);
      values_.BindAnew(operand, before_join);
    }
  }
}

}  // namespace adc::codegen

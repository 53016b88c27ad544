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

#include "codegen/llvm/body_turns.h"

#include <algorithm>

#include "codegen/common/turn_cells.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/gpu_dialect.h"

namespace adc::codegen {

using llvm::Value;

void BranchTogether::Emit(ir::Inst inst, Value* condition) {
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
    if (is_shared) TurnsTogether(*this, inside, condition).EmitLoop();
  }
}

/// The results of the instructions are zero in lanes without the guard.
void BranchTogether::EmitGuarded(std::span<const ir::Inst> insts, Value* guard) {
  if (insts.empty()) return;
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto for_each_result = [&](auto visit) {
    for (ir::Inst inst : insts) {
      for (uint32_t n = 0; n < kernel_[inst].result_count; ++n) visit(kernel_.Result(inst, n));
    }
  };
  for_each_result([&](ir::Value v) { values_.BindAnew(v, nullptr); });
  llvm::BasicBlock* end =
      EmitWhen(builder_, guard, "guarded", "guarded_end", [&] { body_.EmitInsts(insts); });
  for_each_result([&](ir::Value v) {
    Value* made = values_.Find(v);
    if (made == nullptr) return;
    Value* none = llvm::Constant::getNullValue(made->getType());
    values_.BindAnew(v, EmitPhi(builder_, made, end, none, before));
  });
}

/// Emits how many turns there are.
TurnsTogether::TurnsTogether(const BodyPart& part, ir::Inst loop, Value* guard)
    : BodyPart(part), loop_(loop), guard_(guard), low_(values_.Index(kernel_.Operand(loop, 0))) {
  Value* high = values_.Index(kernel_.Operand(loop, 1));
  int64_t step = *kernel_.IntegerConstant(kernel_.Operand(loop, 2));
  Value* distance =
      builder_.CreateAdd(builder_.CreateSub(high, low_), builder_.getInt64(static_cast<uint64_t>(step - 1)));
  if (step != 1) distance = builder_.CreateUDiv(distance, builder_.getInt64(static_cast<uint64_t>(step)));
  count_ = builder_.CreateSelect(builder_.CreateICmpSLT(low_, high), distance, builder_.getInt64(0));
}

/// Those of all waves one after the other, and whole rounds of as many as a wave has lanes, since as many add
/// to memory at once.
void TurnsTogether::TakeShare() {
  uint32_t lanes = hooks_.Wave()->Lanes(), round = lanes * hooks_.WavesOfBlock();
  Value* rounds = builder_.CreateUDiv(
      builder_.CreateAdd(count_, builder_.getInt64(round - 1), "", true, true), builder_.getInt64(round));
  Value* share = builder_.CreateMul(rounds, builder_.getInt64(lanes), "", true, true);
  Value* wave = builder_.CreateZExt(hooks_.WaveInBlock(), builder_.getInt64Ty());
  auto least = [&](Value* a, Value* b) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
  };
  Value* first = least(builder_.CreateMul(share, wave, "", true, true), count_);
  low_ = builder_.CreateAdd(low_, first, "", false, true);
  count_ = least(builder_.CreateSub(count_, first, "", true, true), share);
}

void TurnsTogether::EmitLoop() {
  llvm::SmallVector<Value*> carried = Emit(values_.GetAll(kernel_.Operands(loop_).subspan(3)));
  for (uint32_t n = 0; n < carried.size(); ++n) values_.BindAnew(kernel_.Result(loop_, n), carried[n]);
}

/// Several turns one after the other: loads and sums of different turns do not wait for one another.
llvm::SmallVector<Value*> TurnsTogether::Emit(llvm::SmallVector<Value*> carried) {
  constexpr uint32_t kMost = 4, kMostInstructions = 256;
  const std::vector<ir::Inst>& insts = kernel_[kernel_[loop_].regions[0]].insts;
  // Each copy has arrays of its own, and code of its own for what is inside of a turn.
  auto is_large = [&](ir::Inst inside) {
    return kernel_.RegionCount(inside) != 0 || kernel_[inside].op == ir::Op::Alloca;
  };
  uint32_t copies = std::ranges::any_of(insts, is_large) ? 1 : kMost;
  while (copies > 1 && copies * insts.size() > kMostInstructions) copies /= 2;
  Value* whole = builder_.CreateAnd(count_, builder_.getInt64(~uint64_t{copies - 1}));
  sums_.BeginTurns(loop_);
  carried = EmitCopies(builder_.getInt64(0), whole, copies, carried);
  if (copies != 1) carried = EmitCopies(whole, count_, 1, carried);
  sums_.EndTurns();
  return carried;
}

/// The turns from `first` up to `end`, `copies` in each round. Gives what they carry.
llvm::SmallVector<Value*> TurnsTogether::EmitCopies(Value* first, Value* end, uint32_t copies,
                                                    const llvm::SmallVector<Value*>& starts) {
  llvm::BasicBlock *before = builder_.GetInsertBlock(), *loop = NewBlock(builder_, "for"),
                   *exit = NewBlock(builder_, "for_end");
  builder_.CreateCondBr(builder_.CreateICmpSLT(first, end), loop, exit);
  builder_.SetInsertPoint(loop);
  llvm::PHINode* turn = BeginPhi(builder_, first, before);
  llvm::SmallVector<llvm::PHINode*> phis = Phis(starts, before);
  llvm::SmallVector<Value*> carried(phis.begin(), phis.end());
  // First what all turns compute, so that no load of one waits for the exchanges of another.
  EmitRound(turn, copies, carried);
  SetPlace(loop_);
  for (uint32_t copy = 0; copy < copies; ++copy) sums_.EndTurn(loop_, copy, copies);
  Value* next = builder_.CreateAdd(turn, builder_.getInt64(copies), "", true, true);
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  turn->addIncoming(next, latch);
  AddIncoming(phis, carried, latch);
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), loop, exit);
  builder_.SetInsertPoint(exit);
  return Join(starts, before, carried, latch);
}

/// Emits `copies` turns from `first` on. `carried`: the values from which they start, and then those that
/// they carry.
void TurnsTogether::EmitRound(Value* first, uint32_t copies, llvm::SmallVector<Value*>& carried) {
  if (guard_ != nullptr) return EmitGuardedRound(first, copies, carried);
  ir::Block body = kernel_[loop_].regions[0];
  for (uint32_t copy = 0; copy < copies; ++copy) {
    BeginTurn(first, copy, carried);
    body_.EmitBlock(body);
    carried = Yielded(body);
  }
}

/// Binds what turn `first + copy` begins with.
void TurnsTogether::BeginTurn(Value* first, uint32_t copy, const llvm::SmallVector<Value*>& carried) {
  const std::vector<ir::Value>& params = kernel_[kernel_[loop_].regions[0]].params;
  Value* number = builder_.CreateAdd(first, builder_.getInt64(copy), "", true, true);
  bool reversed = kernel_[loop_].Has(ir::Word::Reversed);
  if (reversed) number = builder_.CreateSub(builder_.CreateSub(count_, builder_.getInt64(1)), number);
  number = builder_.CreateMul(number, values_.Index(kernel_.Operand(loop_, 2)));
  values_.BindCounter(params[0], builder_.CreateAdd(low_, number, "", false, true));
  for (size_t n = 0; n < carried.size(); ++n) values_.BindAnew(params[n + 1], carried[n]);
}

/// Lanes without the guard add nothing to the cells, which all lanes know. One branch holds what all turns
/// compute.
void TurnsTogether::EmitGuardedRound(Value* first, uint32_t copies, llvm::SmallVector<Value*>& carried) {
  ir::Block body = kernel_[loop_].regions[0];
  std::vector<ir::Inst> sums = TurnCellsOf(kernel_, loop_).sums, computed;
  for (ir::Inst inst : kernel_[body].insts) {
    if (std::ranges::find(sums, inst) == sums.end() && !ir::IsTerminator(kernel_[inst].op))
      computed.push_back(inst);
  }
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::SmallVector<Value*> starts = carried, own;
  llvm::BasicBlock* end = EmitWhen(builder_, guard_, "guarded", "guarded_end", [&] {
    for (uint32_t copy = 0; copy < copies; ++copy) {
      BeginTurn(first, copy, carried);
      body_.EmitInsts(computed);
      for (ir::Inst sum : sums) own.push_back(values_.Get(kernel_.AccessValues(sum)[0]));
      carried = Yielded(body);
    }
  });
  carried = Join(carried, end, starts, before);
  llvm::SmallVector<Value*> nothing;
  for (size_t n = 0; n < own.size(); ++n) {
    ir::Scalar scalar = UpdateScalar(kernel_, sums[n % sums.size()]);
    nothing.push_back(scalars_.Constant(scalar, StartOf(ir::Reduction::Add, scalar)));
  }
  own = Join(own, end, nothing, before);
  std::vector<ir::Inst> slice = SliceOf(kernel_, loop_, sums);
  for (uint32_t copy = 0; copy < copies; ++copy) {
    BeginTurn(first, copy, starts);
    body_.EmitInsts(slice);
    for (size_t n = 0; n < sums.size(); ++n) {
      ir::Value operand = kernel_.AccessValues(sums[n])[0];
      Value* before_join = values_.Get(operand);  // values from around the loop are read after it, too
      values_.BindAnew(operand, own[copy * sums.size() + n]);
      body_.EmitInst(sums[n]);
      values_.BindAnew(operand, before_join);
    }
  }
}

}  // namespace adc::codegen

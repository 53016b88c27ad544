#include "codegen/llvm/lane_flush.h"

#include "codegen/llvm/atomic_update.h"
#include "codegen/llvm/blocks.h"
#include "ir/module.h"
#include "llvm/IR/Module.h"

// How lanes with the same cell add up, whichever lanes they are. Each knows its peers, the mask of the lanes
// with its cell, and its rank among them. In each round a lane adds the value of the next peer above it that
// is left; then those of odd rank are done, and ranks halve:
//
//   rank   0 1 2 3 4      0 adds 1, 2 adds 3; 1 and 3 are done
//          0 . 1 . 2      0 adds 2; 2 is done (its rank is now 1)
//          0 . . . 1      0 adds 4
//
// Five rounds at most for 32 lanes, for all cells at once; none where every lane has a cell of its own. Where
// all lanes of the wave arrive and have one cell, which an index that no iteration of its own decides gives,
// the lanes add up pairwise, without a look at who has what.

namespace adc::codegen {

using ir::Scalar;
using llvm::Value;

namespace {

/// At most this many lanes flush each by itself.
constexpr uint32_t kFewLanes = 2;

class FlushWriter {
 public:
  FlushWriter(llvm::Function& flush, const GpuDialect& wave, const target::Target& target,
              const LaneCells& cells)
      : flush_(flush), wave_(wave), target_(target), cells_(cells), b_(Block("entry")) {
    for (uint32_t n = 0; n < cells.count; ++n) own_.push_back(flush.getArg(1 + n));
  }

  void Write() {
    done_ = Block("done");
    active_ = wave_.ActiveLanes(b_);
    llvm::BasicBlock *every = Block("every"), *some = Block("some");
    b_.CreateCondBr(b_.CreateICmpEQ(active_, wave_.EveryLane(b_)), every, some);
    b_.SetInsertPoint(every);
    WriteEvery(some);
    b_.SetInsertPoint(some);
    llvm::BasicBlock *alone = Block("alone"), *several = Block("several");
    Value* lanes = b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, active_);
    b_.CreateCondBr(b_.CreateICmpULE(lanes, llvm::ConstantInt::get(lanes->getType(), kFewLanes)), alone,
                    several);
    b_.SetInsertPoint(alone);
    Update(own_);
    b_.SetInsertPoint(several);
    WriteSeveral();
    b_.SetInsertPoint(done_);
    b_.CreateRetVoid();
  }

 private:
  llvm::BasicBlock* Block(const char* label) {
    return llvm::BasicBlock::Create(flush_.getContext(), label, &flush_);
  }

  Value* Add(Value* a, Value* b) {
    return ir::IsFloat(cells_.scalar) ? b_.CreateFAdd(a, b) : b_.CreateAdd(a, b);
  }

  void Update(llvm::ArrayRef<Value*> values) {
    bool is_half = cells_.scalar == Scalar::F16;
    llvm::Type* element = is_half ? b_.getHalfTy() : cells_.type;
    for (uint32_t n = 0; n < cells_.count; ++n) {
      AtomicCell cell{b_.CreateConstInBoundsGEP1_64(element, flush_.getArg(0), n), element,
                      llvm::Align(ir::ByteSize(cells_.scalar)), cells_.scope};
      if (is_half) {
        EmitHalfSum(b_, target_, cell, values[n]);
      } else {
        EmitAtomicSum(b_, target_, cell, values[n]);
      }
    }
    b_.CreateBr(done_);
  }

  Value* Number() { return b_.CreatePtrToInt(flush_.getArg(0), b_.getInt64Ty()); }

  /// The whole wave: pairwise where it has one cell, else on to `some`.
  void WriteEvery(llvm::BasicBlock* some) {
    llvm::BasicBlock* together = Block("together");
    Value* number = Number();
    Value* same = b_.CreateICmpEQ(wave_.ReadScalar(b_, active_, number, b_.getInt32(0)), number);
    b_.CreateCondBr(b_.CreateICmpEQ(wave_.LanesWhere(b_, active_, same), wave_.EveryLane(b_)), together,
                    some);
    b_.SetInsertPoint(together);
    llvm::SmallVector<Value*> totals = own_;
    for (uint32_t distance = wave_.Lanes() / 2; distance != 0; distance /= 2) {
      for (Value*& total : totals) total = Add(total, wave_.ReadScalarAcross(b_, total, distance));
    }
    llvm::BasicBlock* for_all = Block("for_all");
    b_.CreateCondBr(b_.CreateICmpEQ(wave_.Lane(b_), b_.getInt32(0)), for_all, done_);
    b_.SetInsertPoint(for_all);
    Update(totals);
  }

  void WriteSeveral() {
    Value* peers = wave_.Peers(b_, active_, Number());
    Value* lane = wave_.Lane(b_);
    Value* rank = wave_.CountBelow(b_, peers);
    Value* first = wave_.FirstLane(b_, peers);
    llvm::Type* mask_type = wave_.MaskType(b_);
    Value* none = llvm::ConstantInt::get(mask_type, 0);
    // The lanes above this one: two shifts, since the last lane would shift by the whole width.
    Value* above = b_.CreateShl(
        b_.CreateShl(llvm::ConstantInt::getAllOnesValue(mask_type), b_.CreateZExt(lane, mask_type)), 1);
    Value* waiting = b_.CreateAnd(peers, above);
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock *test = Block("test"), *add = Block("add"), *summed = Block("summed");
    llvm::BasicBlock* lead = Block("lead");
    GoOnIn(b_, test);
    llvm::PHINode *left = BeginPhi(b_, waiting, before, "left"), *order = BeginPhi(b_, rank, before, "order");
    llvm::SmallVector<llvm::PHINode*> sums;
    for (Value* value : own_) sums.push_back(BeginPhi(b_, value, before, "sum"));
    Value* has_next = b_.CreateICmpNE(left, none);
    b_.CreateCondBr(b_.CreateICmpNE(wave_.LanesWhere(b_, active_, has_next), none), add, summed);
    b_.SetInsertPoint(add);
    Value* next = b_.CreateSelect(has_next, wave_.FirstLane(b_, left), lane);
    for (llvm::PHINode* sum : sums) {
      Value* total = Add(sum, wave_.ReadScalar(b_, active_, sum, next));
      sum->addIncoming(b_.CreateSelect(has_next, total, sum), add);
    }
    Value* odd = b_.CreateTrunc(order, b_.getInt1Ty());
    Value* finished = wave_.LanesWhere(b_, active_, odd);
    left->addIncoming(b_.CreateAnd(left, b_.CreateNot(finished)), add);
    order->addIncoming(b_.CreateLShr(order, 1), add);
    b_.CreateBr(test);
    b_.SetInsertPoint(summed);
    b_.CreateCondBr(b_.CreateICmpEQ(lane, first), lead, done_);
    b_.SetInsertPoint(lead);
    Update(llvm::SmallVector<Value*>(sums.begin(), sums.end()));
  }

  llvm::Function& flush_;
  const GpuDialect& wave_;
  const target::Target& target_;
  const LaneCells& cells_;
  llvm::IRBuilder<> b_;
  llvm::BasicBlock* done_ = nullptr;
  Value* active_ = nullptr;
  llvm::SmallVector<Value*> own_;
};

}  // namespace

llvm::Function* FlushFunction(llvm::Module& module, const GpuDialect& wave, const target::Target& target,
                              const LaneCells& cells) {
  std::string name =
      std::string("adc.flush.") + ir::Spelling(cells.scalar) + "." + std::to_string(cells.count);
  if (uint32_t space = cells.pointer->getPointerAddressSpace(); space != target.spaces.global)
    name += "." + std::to_string(space);
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::SmallVector<llvm::Type*> parameters(1 + cells.count, cells.type);
  parameters[0] = cells.pointer;
  llvm::Function* flush = NewFunction(module, name, llvm::Type::getVoidTy(module.getContext()), parameters);
  flush->setConvergent();
  flush->setWillReturn();
  flush->setOnlyAccessesInaccessibleMemOrArgMem();
  flush->addParamAttr(0, llvm::Attribute::NoCapture);
  wave.MakeFunction(*flush);
  FlushWriter(*flush, wave, target, cells).Write();
  return flush;
}

}  // namespace adc::codegen

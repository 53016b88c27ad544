#include "codegen/llvm/sums.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op;
using ir::Scalar;
using llvm::Value;

namespace {

/// `type`: of a register of `scalar`, which for f16 may be its bits.
llvm::Constant* Infinity(Scalar scalar, llvm::Type* type, bool negative) {
  constexpr uint64_t kInfinityOfHalf = 0x7C00, kSignOfHalf = 0x8000;
  if (scalar == Scalar::F16 && type->isIntegerTy())
    return llvm::ConstantInt::get(type, kInfinityOfHalf | (negative ? kSignOfHalf : 0));
  return llvm::ConstantFP::getInfinity(type, negative);
}

/// What a sum starts from: it leaves a cell as it is, to the bit.
llvm::Constant* NeutralOf(Reduction reduction, Scalar scalar, llvm::Type* type) {
  bool is_signed = ir::IsSigned(scalar);
  uint32_t width = ir::BitWidth(scalar);
  switch (reduction) {
    case Reduction::Add:
      return ir::IsFloat(scalar) ? llvm::ConstantFP::getNegativeZero(type) : llvm::ConstantInt::get(type, 0);
    case Reduction::Min:
      if (ir::IsFloat(scalar)) return Infinity(scalar, type, false);
      return llvm::ConstantInt::get(
          type, is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width));
    case Reduction::Max:
      if (ir::IsFloat(scalar)) return Infinity(scalar, type, true);
      return llvm::ConstantInt::get(
          type, is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getMinValue(width));
    case Reduction::And:
      return llvm::Constant::getAllOnesValue(type);
    case Reduction::Or:
    case Reduction::Xor:
      return llvm::ConstantInt::get(type, 0);
  }
  ADC_UNREACHABLE("kind of a reduction");
}

Op AtomicOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::Add:
      return Op::AtomicAdd;
    case Reduction::Min:
      return Op::AtomicMin;
    case Reduction::Max:
      return Op::AtomicMax;
    case Reduction::And:
      return Op::AtomicAnd;
    case Reduction::Or:
      return Op::AtomicOr;
    case Reduction::Xor:
      return Op::AtomicXor;
  }
  ADC_UNREACHABLE("kind of a reduction");
}

}  // namespace

llvm::BasicBlock* SumEmitter::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
}

void SumEmitter::Begin(const ChunkSums& sums) {
  chunk_sums_ = &sums;
  for (const ChunkSum& sum : sums.sums) {
    Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(sum.first)[0]).scalar;
    // A long sum of f16 would soon stand still: it is rounded to f16 once, when it goes to its cell.
    if (scalar == Scalar::F16 && sum.reduction == Reduction::Add) scalar = Scalar::F32;
    Sum state{&sum, scalar, hooks_.Local(scalars_.RegisterType(scalar), "sum"), nullptr};
    builder_.CreateStore(StartOf(state), state.total);
    // An update that adds nothing may be made in vain where the cell exists for sure and stays the same to
    // the bit.
    bool harmless = kernel_[sum.first].index_count == 0 && sum.reduction == Reduction::Add;
    state.shows = sum.conditional && !harmless && !ir::IsFloat(scalar);
    if (sum.conditional && !harmless && !state.shows) {
      state.touched = hooks_.Local(builder_.getInt1Ty(), "touched");
      builder_.CreateStore(builder_.getFalse(), state.touched);
    }
    sums_.push_back(state);
  }
  BeginGathered(sums);
}

bool SumEmitter::Accumulate(ir::Inst inst) {
  if (chunk_sums_ == nullptr) return false;
  if (uint32_t sum = chunk_sums_->sum_of.Get(inst); sum != ir::kNoAttr) {
    AddToSum(inst, sums_[sum]);
    return true;
  }
  if (uint32_t gathered = chunk_sums_->gathered_of.Get(inst); gathered != ir::kNoAttr) {
    AddGathered(inst, gathered);
    return true;
  }
  return false;
}

Value* SumEmitter::Combine(Reduction reduction, bool subtract, Scalar scalar, Value* old, Value* value) {
  bool truth = scalar == Scalar::I1;
  switch (reduction) {
    case Reduction::Add:
      if (truth) return builder_.CreateXor(old, value);
      return scalars_.Emit(subtract ? Op::Sub : Op::Add, scalar, scalar, {old, value});
    case Reduction::Min:
      return truth ? builder_.CreateAnd(old, value) : scalars_.Emit(Op::Min, scalar, scalar, {old, value});
    case Reduction::Max:
      return truth ? builder_.CreateOr(old, value) : scalars_.Emit(Op::Max, scalar, scalar, {old, value});
    case Reduction::And:
      return builder_.CreateAnd(old, value);
    case Reduction::Or:
      return builder_.CreateOr(old, value);
    case Reduction::Xor:
      return builder_.CreateXor(old, value);
  }
  ADC_UNREACHABLE("kind of a reduction");
}

void SumEmitter::AddToSum(ir::Inst inst, const Sum& sum) {
  Scalar scalar = sum.scalar;
  Scalar own = kernel_.TypeOf(kernel_.AccessValues(inst)[0]).scalar;
  Value* value = scalars_.Emit(Op::Cast, own, scalar, {values_.Get(kernel_.AccessValues(inst)[0])});
  Value* old = builder_.CreateLoad(sum.total->getAllocatedType(), sum.total);
  Value* total = nullptr;
  {
    // The order of a sum over parallel iterations is nobody's to rely on: it may be split over vector lanes.
    llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
    llvm::FastMathFlags flags = builder_.getFastMathFlags();
    flags.setAllowReassoc(true);
    builder_.setFastMathFlags(flags);
    total = Combine(sum.what->reduction, kernel_[inst].op == Op::AtomicSub, scalar, old, value);
  }
  builder_.CreateStore(total, sum.total);
  if (sum.touched != nullptr) builder_.CreateStore(builder_.getTrue(), sum.touched);
}

void SumEmitter::PayIf(Value* condition, const Sum& sum, Value* total) {
  llvm::BasicBlock* update = NewBlock("sum_update");
  llvm::BasicBlock* done = NewBlock("sum_done");
  builder_.CreateCondBr(condition, update, done);
  builder_.SetInsertPoint(update);
  Pay(sum, total);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

void SumEmitter::Pay(const Sum& sum, Value* total) {
  memory_.EmitAtomic(sum.what->first, AtomicOf(sum.what->reduction), sum.scalar,
                     total != nullptr ? total : TotalOf(sum));
}

llvm::Constant* SumEmitter::StartOf(const Sum& sum) const {
  return NeutralOf(sum.what->reduction, sum.scalar, sum.total->getAllocatedType());
}

Value* SumEmitter::TotalOf(const Sum& sum) {
  return builder_.CreateLoad(sum.total->getAllocatedType(), sum.total);
}

Value* SumEmitter::TouchedOf(const Sum& sum, Value* total) {
  if (sum.shows) return builder_.CreateICmpNE(total, StartOf(sum));
  return sum.touched == nullptr ? nullptr : builder_.CreateLoad(builder_.getInt1Ty(), sum.touched);
}

void SumEmitter::End() {
  Flush();
  if (!sums_.empty()) EndSums(sums_);
  EndGathered();
  sums_.clear();
  chunk_sums_ = nullptr;
}

}  // namespace adc::codegen

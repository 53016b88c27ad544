#include "codegen/llvm/sums.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

void SumEmitter::Begin(const PrivateSums& sums) {
  private_sums_ = &sums;
  for (const PrivateSum& sum : sums.sums) {
    Sum state{&sum, hooks_.Local(scalars_.RegisterType(sum.scalar), "sum"), nullptr};
    builder_.CreateStore(StartOf(state), state.total);
    state.shows = sum.touches && !ir::IsFloat(sum.scalar);
    if (sum.touches && !state.shows) {
      state.touched = hooks_.Local(builder_.getInt1Ty(), "touched");
      builder_.CreateStore(builder_.getFalse(), state.touched);
    }
    sums_.push_back(state);
  }
  BeginGathered(sums);
}

bool SumEmitter::Accumulate(ir::Inst inst) {
  if (private_sums_ == nullptr) return false;
  if (uint32_t sum = private_sums_->sum_of.Get(inst); sum != ir::kNoAttr) {
    AddToSum(inst, sums_[sum]);
    return true;
  }
  if (uint32_t gathered = private_sums_->gathered_of.Get(inst); gathered != ir::kNoAttr) {
    AddGathered(inst, gathered);
    return true;
  }
  return false;
}

Value* SumEmitter::ValueOf(ir::Inst update) {
  Scalar scalar = UpdateScalar(kernel_, update);
  Value* value = values_.Get(kernel_.AccessValues(update)[0]);
  return kernel_[update].op == Op::AtomicSub ? scalars_.Emit(Op::Neg, scalar, scalar, {value}) : value;
}

void SumEmitter::AddToSum(ir::Inst inst, const Sum& sum) {
  Scalar scalar = sum.what->scalar;
  Value* own = values_.Get(kernel_.AccessValues(inst)[0]);
  Value* value = scalars_.Emit(Op::Cast, UpdateScalar(kernel_, inst), scalar, {own});
  Value* old = builder_.CreateLoad(sum.total->getAllocatedType(), sum.total);
  Value* total = nullptr;
  {
    // The order of a sum over parallel iterations is not defined: it may be split over vector lanes.
    llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
    llvm::FastMathFlags flags = builder_.getFastMathFlags();
    flags.setAllowReassoc(true);
    builder_.setFastMathFlags(flags);
    total = memory_.Combine(kernel_[inst].op, scalar, old, {value});
  }
  builder_.CreateStore(total, sum.total);
  if (sum.touched != nullptr) builder_.CreateStore(builder_.getTrue(), sum.touched);
}

void SumEmitter::UpdateIf(Value* condition, const Sum& sum, Value* total) {
  EmitWhen(builder_, condition, "sum_update", "sum_done", [&] { Update(sum, total); });
}

void SumEmitter::Update(const Sum& sum, Value* total) {
  memory_.EmitAtomic(sum.what->first, sum.what->update, sum.what->scalar,
                     total != nullptr ? total : TotalOf(sum));
}

llvm::Constant* SumEmitter::StartOf(const Sum& sum) const {
  return scalars_.Constant(sum.what->scalar, sum.what->start);
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
  private_sums_ = nullptr;
}

}  // namespace adc::codegen

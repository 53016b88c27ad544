// Divisions are dear on a GPU, those of 64 bits above all. So only the first iteration is divided, and the
// stride where the thread goes on at all; after that the digits add up like those of a number:
//
//   i, j = split(thread);  (si, sj) = thread + threads < iterations ? split(threads) : (0, 0)
//   next: j += sj; carry = j >= m; j -= carry ? m : 0; i += si + carry
//
// Axes that an i32 counts take 32 bits each. A number below 2^32, which is most of them, is divided in 32
// bits.

#include "codegen/llvm/gpu_digits.h"

#include "codegen/llvm/blocks.h"
#include "llvm/IR/MDBuilder.h"

namespace adc::codegen {

using llvm::Value;

IterationDigits::IterationDigits(llvm::IRBuilder<>& builder, const std::vector<Axis>& axes)
    : builder_(builder), axes_(axes) {
  for (const Axis& axis : axes) {
    llvm::Type* type = axis.is_narrow ? builder.getInt32Ty() : builder.getInt64Ty();
    places_.push_back(
        {axis.is_narrow, type, builder.CreateTrunc(axis.extent, type), nullptr, nullptr, nullptr});
  }
}

/// By divisions in `type`: 32 bits do for a number below 2^32, so that no extent but the outermost can be
/// more.
std::vector<Value*> IterationDigits::SplitIn(llvm::Type* type, Value* number) {
  number = builder_.CreateTrunc(number, type);
  std::vector<Value*> digits(axes_.size());
  for (size_t n = axes_.size(); n-- > 0;) {
    Value* extent = builder_.CreateTrunc(axes_[n].extent, type);
    Value* quotient = n == 0 ? nullptr : builder_.CreateUDiv(number, extent);
    Value* digit = n == 0 ? number : builder_.CreateSub(number, builder_.CreateMul(quotient, extent));
    digits[n] = builder_.CreateZExtOrTrunc(digit, places_[n].type);
    number = quotient;
  }
  return digits;
}

std::vector<Value*> IterationDigits::Split(Value* number) {
  // A number that is small may still meet an extent that is not, where that axis is an i64.
  Value* high = builder_.CreateLShr(number, 32);
  for (size_t n = 1; n < axes_.size(); ++n) {
    if (!places_[n].narrow) high = builder_.CreateOr(high, builder_.CreateLShr(axes_[n].extent, 32));
  }
  llvm::BasicBlock* narrow = NewBlock(builder_, "split");
  llvm::BasicBlock* wide = NewBlock(builder_, "split_wide");
  llvm::BasicBlock* join = NewBlock(builder_, "splitted");
  builder_.CreateCondBr(builder_.CreateICmpEQ(high, builder_.getInt64(0)), narrow, wide,
                        llvm::MDBuilder(builder_.getContext()).createBranchWeights(1000, 1));
  builder_.SetInsertPoint(narrow);
  std::vector<Value*> if_narrow = SplitIn(builder_.getInt32Ty(), number);
  builder_.CreateBr(join);
  builder_.SetInsertPoint(wide);
  std::vector<Value*> if_wide = SplitIn(builder_.getInt64Ty(), number);
  GoOnIn(builder_, join);
  std::vector<Value*> digits;
  for (size_t n = 0; n < axes_.size(); ++n)
    digits.push_back(EmitPhi(builder_, if_narrow[n], narrow, if_wide[n], wide));
  return digits;
}

void IterationDigits::Start(Value* thread, Value* threads, Value* iterations) {
  std::vector<Value*> start = Split(thread);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  Value* second = builder_.CreateAdd(thread, threads, "", true, true);
  std::vector<Value*> stride;
  llvm::BasicBlock* end = EmitWhen(builder_, builder_.CreateICmpULT(second, iterations), "goes_on", "begin",
                                   [&] { stride = Split(threads); });
  for (size_t n = 0; n < places_.size(); ++n) {
    Value* none = llvm::ConstantInt::get(places_[n].type, 0);
    places_[n].start = start[n];
    places_[n].stride = EmitPhi(builder_, stride[n], end, none, before, "stride");
  }
}

void IterationDigits::Enter(llvm::BasicBlock* before) {
  for (Place& place : places_) place.digit = BeginPhi(builder_, place.start, before, "digit");
  for (const Place& place : places_)
    wide_.push_back(builder_.CreateZExt(place.digit, builder_.getInt64Ty(), "", place.narrow));
}

void IterationDigits::SplitHere(Value* iteration) {
  std::vector<Value*> digits = Split(iteration);
  for (size_t n = 0; n < places_.size(); ++n)
    wide_.push_back(builder_.CreateZExt(digits[n], builder_.getInt64Ty(), "", places_[n].narrow));
}

void IterationDigits::Advance() {
  llvm::BasicBlock* latch = builder_.GetInsertBlock();
  Value* carry = nullptr;
  for (size_t n = places_.size(); n-- > 0;) {
    const Place& place = places_[n];
    Value* moved = builder_.CreateAdd(place.digit, place.stride, "", n != 0);
    if (carry != nullptr) moved = builder_.CreateAdd(moved, builder_.CreateZExt(carry, place.type));
    if (n != 0) {
      carry = builder_.CreateICmpUGE(moved, place.extent);
      moved = builder_.CreateSelect(carry, builder_.CreateSub(moved, place.extent), moved);
    }
    place.digit->addIncoming(moved, latch);
  }
}

}  // namespace adc::codegen

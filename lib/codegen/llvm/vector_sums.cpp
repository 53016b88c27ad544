#include "codegen/llvm/vector_sums.h"

#include <bit>

#include "codegen/llvm/sum_groups.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace adc::codegen {

using llvm::Value;

namespace {

constexpr uint64_t kCell = 4;

/// A power of two that divides the distance of `place` from its start for sure, up to 16.
uint64_t KnownAlignment(const Place& place, const llvm::DataLayout& layout) {
  if (place.index == nullptr) return kCell;
  uint32_t zeros = llvm::computeKnownBits(place.index, layout).countMinTrailingZeros();
  uint64_t bits = uint64_t{16} | static_cast<uint64_t>(place.offset) | place.element << std::min(zeros, 4u);
  return uint64_t{1} << std::countr_zero(bits);
}

class Joiner {
 public:
  Joiner(const SumGroup& group, const GpuDialect& dialect)
      : sums_(group.sums), dialect_(dialect), last_(group.sums.back()) {
    SumGroup up = group.Up();
    sums_ = up.sums;
    known_ = KnownAlignment(up.places[0], last_->getModule()->getDataLayout());
  }

  void Join() {
    size_t width = sums_.size() == 4 && known_ == 16 ? 4 : known_ >= 8 ? 2 : 0;
    if (width != 0) return IfAligned(width);
    if (sums_.size() >= 3) FirstThree();
  }

 private:
  Value* Bits(llvm::IRBuilder<>& b, uint64_t mask) {
    return b.CreateAnd(b.CreatePtrToInt(sums_[0]->getPointerOperand(), b.getInt32Ty()),
                       b.getInt32(static_cast<uint32_t>(mask)));
  }

  void IfAligned(size_t width) {
    llvm::IRBuilder<> b(last_);
    Value* aligned = b.CreateICmpEQ(Bits(b, width * kCell - 1), b.getInt32(0));
    llvm::Instruction *joined = nullptr, *alone = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(aligned, last_, &joined, &alone);
    b.SetInsertPoint(joined);
    b.SetCurrentDebugLocation(last_->getDebugLoc());
    for (size_t at = 0; at < sums_.size(); at += width) {
      if (at + width > sums_.size()) {
        b.Insert(sums_[at]->clone());
        continue;
      }
      llvm::SmallVector<Value*, kMostCells> values;
      for (size_t n = at; n < at + width; ++n) values.push_back(sums_[n]->getValOperand());
      dialect_.AddVector(b, sums_[at]->getPointerOperand(), values);
    }
    for (llvm::AtomicRMWInst* sum : sums_) sum->moveBefore(alone);
  }

  void FirstThree() {
    llvm::IRBuilder<> b(last_);
    Value* even = b.CreateICmpEQ(Bits(b, kCell), b.getInt32(0));
    Value* addresses[3];
    Value* values[3];
    for (size_t n = 0; n < 3; ++n) {
      addresses[n] = sums_[n]->getPointerOperand();
      values[n] = sums_[n]->getValOperand();
    }
    dialect_.AddVector(
        b, b.CreateSelect(even, addresses[0], addresses[1]),
        {b.CreateSelect(even, values[0], values[1]), b.CreateSelect(even, values[1], values[2])});
    auto* single = llvm::cast<llvm::AtomicRMWInst>(sums_[0]->clone());
    single->setOperand(0, b.CreateSelect(even, addresses[2], addresses[0]));
    single->setOperand(1, b.CreateSelect(even, values[2], values[0]));
    b.Insert(single);
    for (size_t n = 0; n < 3; ++n) sums_[n]->eraseFromParent();
  }

  llvm::SmallVector<llvm::AtomicRMWInst*, kMostCells> sums_;
  const GpuDialect& dialect_;
  llvm::AtomicRMWInst* last_;  ///< in the code
  uint64_t known_ = kCell;
};

}  // namespace

void JoinVectorSums(llvm::Module& module, const GpuDialect& dialect, const target::Target& target) {
  if (!dialect.AddsVectors()) return;
  for (llvm::Function& function : module) {
    auto groups = SumGroupsOf(function, [&](const llvm::AtomicRMWInst& sum) {
      return sum.getType()->isFloatTy() && sum.getPointerAddressSpace() == target.spaces.global;
    });
    for (const SumGroup& group : groups) {
      if (group.sums.size() > 1) Joiner(group, dialect).Join();
    }
  }
}

}  // namespace adc::codegen

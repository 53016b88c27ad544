#include "codegen/llvm/masked_selects.h"

#include <map>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace adc::codegen {
namespace {

using llvm::Value;

bool IsZero(const Value* arm) {
  auto* constant = llvm::dyn_cast<llvm::ConstantFP>(arm);
  return constant != nullptr && constant->isExactlyValue(0.0);
}

class Masks {
 public:
  explicit Masks(llvm::Function& function) : function_(function) {}

  /// Of a value or zero.
  void Replace(llvm::SelectInst* select) {
    llvm::IRBuilder<> b(select);
    llvm::Type* type = select->getType();
    llvm::Type* bits = b.getIntNTy(type->getScalarSizeInBits());
    Value* mask = b.CreateBitCast(MaskOf(select->getCondition(), type), bits);
    Value* guarded = select->getTrueValue();
    if (IsZero(guarded)) {
      guarded = select->getFalseValue();
      mask = b.CreateNot(mask);
    }
    Value* chosen = b.CreateAnd(b.CreateBitCast(guarded, bits), mask);
    select->replaceAllUsesWith(b.CreateBitCast(chosen, type));
    select->eraseFromParent();
  }

 private:
  /// All bits of a float of `type` like `condition`. It is made where the condition is, and is a float there:
  /// so it lies in a register of floats for all who read it.
  Value* MaskOf(Value* condition, llvm::Type* type) {
    Value*& mask = masks_[{condition, type}];
    if (mask != nullptr) return mask;
    auto* made = llvm::dyn_cast<llvm::Instruction>(condition);
    llvm::IRBuilder<> b(function_.getContext());
    b.SetInsertPoint(made != nullptr ? &**made->getInsertionPointAfterDef()
                                     : &*function_.getEntryBlock().getFirstInsertionPt());
    Value* bits = b.CreateSExt(condition, b.getIntNTy(type->getScalarSizeInBits()));
    return mask = b.CreateBitCast(bits, type);
  }

  llvm::Function& function_;
  std::map<std::pair<Value*, llvm::Type*>, Value*> masks_;
};

/// Whether one instruction, or a comparison that makes a mask, does what the select does.
bool IsDirect(const llvm::SelectInst& select) {
  auto* compare = llvm::dyn_cast<llvm::FCmpInst>(select.getCondition());
  if (compare == nullptr || compare->getOperand(0)->getType() != select.getType()) return false;
  const Value *a = compare->getOperand(0), *b = compare->getOperand(1);
  const Value *taken = select.getTrueValue(), *other = select.getFalseValue();
  bool is_extremum = (taken == a && other == b) || (taken == b && other == a);
  return is_extremum || (compare->hasOneUse() && compare->getParent() == select.getParent());
}

}  // namespace

llvm::PreservedAnalyses MaskedSelects::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  std::vector<llvm::SelectInst*> selects;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
    if (select == nullptr || llvm::isa<llvm::Constant>(select->getCondition())) continue;
    bool is_float = select->getType()->isFloatTy() || select->getType()->isDoubleTy();
    bool guards = IsZero(select->getTrueValue()) || IsZero(select->getFalseValue());
    if (is_float && guards && !IsDirect(*select)) selects.push_back(select);
  }
  Masks masks(function);
  for (llvm::SelectInst* select : selects) masks.Replace(select);
  return selects.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace adc::codegen

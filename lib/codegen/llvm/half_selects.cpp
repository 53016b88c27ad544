#include "codegen/llvm/half_selects.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace adc::codegen {

llvm::PreservedAnalyses HalfSelects::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  std::vector<llvm::SelectInst*> selects;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction);
    if (select != nullptr && select->getType()->getScalarType()->isHalfTy()) selects.push_back(select);
  }
  for (llvm::SelectInst* select : selects) {
    llvm::IRBuilder<> builder(select);
    llvm::Type* bits = select->getType()->getWithNewType(builder.getInt16Ty());
    llvm::Value* chosen =
        builder.CreateSelect(select->getCondition(), builder.CreateBitCast(select->getTrueValue(), bits),
                             builder.CreateBitCast(select->getFalseValue(), bits));
    select->replaceAllUsesWith(builder.CreateBitCast(chosen, select->getType()));
    select->eraseFromParent();
  }
  return selects.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace adc::codegen

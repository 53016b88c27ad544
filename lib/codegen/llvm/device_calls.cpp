#include "codegen/llvm/device_calls.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

namespace adc::codegen {

void KeepManyCalls(llvm::ArrayRef<llvm::Function*> functions, bool inlines) {
  llvm::SmallPtrSet<const llvm::Function*, 16> own(functions.begin(), functions.end());
  llvm::MapVector<const llvm::Function*, std::vector<llvm::CallInst*>> calls;  // by caller
  for (llvm::Function* function : functions) {
    for (llvm::User* user : function->users()) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      if (!own.contains(call->getFunction())) calls[call->getFunction()].push_back(call);
    }
  }
  for (const auto& [caller, of_caller] : calls) {
    bool many = of_caller.size() > kMostInlinedCalls;
    if (!many && !inlines) continue;
    for (llvm::CallInst* call : of_caller)
      call->addFnAttr(many ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
  }
}

}  // namespace adc::codegen

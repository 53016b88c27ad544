#pragma once
// Reports to the status block of a launch (artifact/cpu_abi.h).

#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

/// adc.raise(status, code, task, index, needed, iteration): the first to report wins word 0, then fills the
/// rest. Made on demand; `status`: type of the block's address; `scope`: of the atomic update.
llvm::Function* RaiseFunction(llvm::Module& module, llvm::PointerType* status, llvm::SyncScope::ID scope);

}  // namespace adc::codegen

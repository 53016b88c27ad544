#pragma once
// Reports to the status block of a launch (artifact/cpu_abi.h).

#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

/// adc.raise(status, source, code, task, index, needed, iteration): the first to report fills the block,
/// later ones with the same source say what they need. Made on demand; `status`: type of the block's address;
/// `scope`: of the atomic updates.
llvm::Function* RaiseFunction(llvm::Module& module, llvm::PointerType* status, llvm::SyncScope::ID scope);

}  // namespace adc::codegen

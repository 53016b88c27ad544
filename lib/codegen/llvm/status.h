#pragma once
// Reports to the status block of a launch (artifact/cpu_abi.h).

#include "codegen/common/status_code.h"
#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

/// What a report says. `needed`, `iteration`: i64, or null.
struct Report {
  StatusCode code;
  uint32_t task = 0, index = 0;
  llvm::Value* needed = nullptr;
  llvm::Value* iteration = nullptr;
};

/// Calls adc.raise(status, source, code, task, index, needed, iteration), which is made on demand: the first
/// to report fills the block, later ones with the same source say what they need. `scope`: of the atomic
/// updates.
llvm::CallInst* CallRaise(llvm::IRBuilder<>& builder, llvm::Value* status, llvm::SyncScope::ID scope,
                          const Report& report);

}  // namespace adc::codegen

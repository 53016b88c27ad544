#pragma once
// Ends a counting kernel that takes too long.

#include <span>

#include "codegen/llvm/alias.h"
#include "codegen/llvm/split_function.h"
#include "llvm/IR/Function.h"

namespace adc::codegen {

/// Counts the trips of all loops of `task`, a function that ends the task when it returns, and asks the
/// loader for more of them now and then (ADRT_CPU_STATUS_MORE): where it gives none the function returns at
/// once. `status`: the address of the status block, made in the entry block.
///
/// Requires: a function as it is emitted, `pieces` not yet moved out of it. Guarantees: the same of what it
/// leaves. Breaks: nothing.
void LimitSteps(llvm::Function& task, llvm::Value* status, std::span<const Piece> pieces,
                const AliasScopes& aliases);

}  // namespace adc::codegen

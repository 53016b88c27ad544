#pragma once
// How large a task is for LLVM.

#include <cstdint>

#include "analysis/tasks.h"
#include "ir/function.h"

namespace adc::analysis {

/// The weight of an instruction without its regions, in operations: LLVM's analysis of loops takes much
/// longer than that of the rest (docs/limits.md).
constexpr uint64_t OperationsOf(ir::Op op) {
  constexpr uint64_t kLoop = 20;
  return op == ir::Op::For || op == ir::Op::While ? kLoop : 1;
}

/// The operations of `task`.
uint64_t OperationsOf(const ir::Function& kernel, const Task& task);

}  // namespace adc::analysis

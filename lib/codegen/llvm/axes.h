#pragma once
// The axes of a parallel loop as LLVM values.

#include <vector>

#include "codegen/llvm/values.h"

namespace adc::codegen {

/// One axis of a parallel loop, in 64 bits.
struct Axis {
  ir::Value counter;
  llvm::Value* low = nullptr;
  llvm::Value* extent = nullptr;  ///< not negative
  bool is_narrow = false;         ///< the sum of two of its digits fits 32 bits
};

/// The axes of `loop`, a `parallel` or a `parallel over`, outermost first. A field outside of every `dense`
/// has one cell and no axis.
std::vector<Axis> AxesOf(const ir::Module& module, const ir::Function& kernel, ir::Inst loop,
                         llvm::IRBuilder<>& builder, ValueTable& values);
/// How many iterations they give.
llvm::Value* TotalOf(const std::vector<Axis>& axes, llvm::IRBuilder<>& builder);

}  // namespace adc::codegen

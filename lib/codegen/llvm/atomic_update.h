#pragma once
// Atomic updates of memory: the one place that decides between an instruction of LLVM's and a loop.

#include <functional>

#include "llvm/IR/IRBuilder.h"
#include "target/target.h"

namespace adc::codegen {

/// A cell that is updated atomically, relaxed, and the scope that sees it.
struct AtomicCell {
  llvm::Value* address = nullptr;
  llvm::Type* type = nullptr;  ///< of the element in memory
  llvm::Align alignment;       ///< its size
  llvm::SyncScope::ID scope = llvm::SyncScope::System;
};

/// Is called with every instruction that touches the cell, so that the caller can say what it aliases.
using MarkAccess = std::function<void(llvm::Instruction*)>;

/// Replaces the element by what `next` makes of it, until no other thread has changed it in between. Gives
/// the old element. `next` may be called once; it emits code, and may add blocks.
llvm::Value* EmitUpdateLoop(llvm::IRBuilder<>& builder, const AtomicCell& cell, const MarkAccess& mark,
                            const std::function<llvm::Value*(llvm::Value*)>& next);

/// Updates the element by an operation of LLVM's: the instruction where the target has it, else the loop.
/// Gives the old element. `kind`: FAdd, FSub, or any of integers.
llvm::Value* EmitAtomicUpdate(llvm::IRBuilder<>& builder, const target::Target& target,
                              llvm::AtomicRMWInst::BinOp kind, const AtomicCell& cell, llvm::Value* operand,
                              const MarkAccess& mark);

/// Adds `value` to the element, a float or an integer, by either of them.
void EmitAtomicSum(
    llvm::IRBuilder<>& builder, const target::Target& target, const AtomicCell& cell, llvm::Value* value,
    const MarkAccess& mark = [](llvm::Instruction*) {});

/// Adds a total of f32 to an element of f16, rounded to f16 as often as the target's instruction takes: at
/// most twice.
void EmitHalfSum(llvm::IRBuilder<>& builder, const target::Target& target, const AtomicCell& cell,
                 llvm::Value* total);

}  // namespace adc::codegen

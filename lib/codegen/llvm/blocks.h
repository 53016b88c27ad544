#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

/// A block at the end of the function that `builder` is in.
inline llvm::BasicBlock* NewBlock(llvm::IRBuilder<>& builder, const llvm::Twine& name) {
  return llvm::BasicBlock::Create(builder.getContext(), name, builder.GetInsertBlock()->getParent());
}

}  // namespace adc::codegen

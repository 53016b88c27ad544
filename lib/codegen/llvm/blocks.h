#pragma once

#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

/// A block at the end of the function that `builder` is in.
inline llvm::BasicBlock* NewBlock(llvm::IRBuilder<>& builder, const llvm::Twine& name) {
  return llvm::BasicBlock::Create(builder.getContext(), name, builder.GetInsertBlock()->getParent());
}

/// Code goes on in `block`, into which the current one leads.
inline void GoOnIn(llvm::IRBuilder<>& builder, llvm::BasicBlock* block) {
  builder.CreateBr(block);
  builder.SetInsertPoint(block);
}

}  // namespace adc::codegen

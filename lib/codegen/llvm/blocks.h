#pragma once
// Blocks of a function that is being written, and the values where they meet.

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

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

/// Writes what `then` emits for where `condition` holds. Gives the block in which it ends.
template <class Then>
llvm::BasicBlock* EmitWhen(llvm::IRBuilder<>& builder, llvm::Value* condition, const char* name,
                           const char* end_name, Then then) {
  llvm::BasicBlock *inside = NewBlock(builder, name), *end = NewBlock(builder, end_name);
  builder.CreateCondBr(condition, inside, end);
  builder.SetInsertPoint(inside);
  then();
  llvm::BasicBlock* last = builder.GetInsertBlock();
  GoOnIn(builder, end);
  return last;
}

/// What a loop carries: it begins with `start`, which comes from `before`. Its next value is still to come.
inline llvm::PHINode* BeginPhi(llvm::IRBuilder<>& builder, llvm::Value* start, llvm::BasicBlock* before,
                               const llvm::Twine& name = "") {
  llvm::PHINode* phi = builder.CreatePHI(start->getType(), 2, name);
  phi->addIncoming(start, before);
  return phi;
}

/// The value of one of two ways, at the start of the block where they meet.
inline llvm::PHINode* EmitPhi(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::BasicBlock* from_a,
                              llvm::Value* b, llvm::BasicBlock* from_b, const llvm::Twine& name = "") {
  llvm::PHINode* phi = BeginPhi(builder, a, from_a, name);
  phi->addIncoming(b, from_b);
  return phi;
}

/// Says that the value of a load or a call lies in [0, end).
inline void SetRange(llvm::Instruction* value, const llvm::APInt& end) {
  llvm::MDBuilder facts(value->getContext());
  value->setMetadata(llvm::LLVMContext::MD_range, facts.createRange(llvm::APInt(end.getBitWidth(), 0), end));
}

/// What LLVM is told of a loop at the branch that leads back.
inline llvm::MDNode* LoopNode(llvm::LLVMContext& context, llvm::ArrayRef<llvm::Metadata*> wishes) {
  llvm::SmallVector<llvm::Metadata*, 3> all{nullptr};
  all.append(wishes.begin(), wishes.end());
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context, all);
  loop->replaceOperandWith(0, loop);
  return loop;
}

/// An internal function that throws nothing, without blocks; for the processor of `like`, if there is one.
inline llvm::Function* NewFunction(llvm::Module& module, const llvm::Twine& name, llvm::Type* result,
                                   llvm::ArrayRef<llvm::Type*> parameters,
                                   const llvm::Function* like = nullptr) {
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->setDoesNotThrow();
  for (const char* attribute : {"target-cpu", "target-features"}) {
    if (like != nullptr && like->hasFnAttribute(attribute))
      function->addFnAttr(like->getFnAttribute(attribute));
  }
  return function;
}

}  // namespace adc::codegen

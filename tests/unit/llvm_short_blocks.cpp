// Blocks of code that is not optimised stay short, and what is in them stays in order.

#include "catch2/catch.hpp"
#include "codegen/llvm/short_blocks.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"

namespace {

using namespace adc;

/// A function of one block that adds `count` times, with an alloca before and one after the first addition,
/// followed by a block with a phi of the sum.
llvm::Function* Chain(llvm::Module& module, size_t count) {
  llvm::Type* type = llvm::Type::getFloatTy(module.getContext());
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {type}, false),
                                          llvm::GlobalValue::ExternalLinkage, "chain", module);
  llvm::BasicBlock* entry = llvm::BasicBlock::Create(module.getContext(), "entry", function);
  llvm::BasicBlock* end = llvm::BasicBlock::Create(module.getContext(), "end", function);
  llvm::IRBuilder<> builder(entry);
  builder.CreateAlloca(type);
  llvm::Value* sum = builder.CreateFAdd(function->getArg(0), llvm::ConstantFP::get(type, 1));
  builder.CreateAlloca(type);
  for (size_t n = 1; n < count; ++n) sum = builder.CreateFAdd(sum, function->getArg(0));
  builder.CreateBr(end);
  builder.SetInsertPoint(end);
  llvm::PHINode* phi = builder.CreatePHI(type, 1);
  phi->addIncoming(sum, entry);
  builder.CreateRet(phi);
  return function;
}

size_t Length(const llvm::BasicBlock& block) {
  size_t length = 0;
  for (const llvm::Instruction& instruction : block) {
    if (!llvm::isa<llvm::AllocaInst, llvm::PHINode>(instruction) && !instruction.isTerminator()) ++length;
  }
  return length;
}

TEST_CASE("Long blocks are cut, allocas stay in the first block", "[llvm]") {
  for (size_t count : {size_t{1}, codegen::kLongestBlock, codegen::kLongestBlock + 1, size_t{10'000}}) {
    INFO(count);
    llvm::LLVMContext context;
    llvm::Module module("code", context);
    llvm::Function* function = Chain(module, count);
    llvm::FunctionAnalysisManager analyses;
    codegen::ShortBlocks().run(*function, analyses);
    CHECK(!llvm::verifyFunction(*function, &llvm::errs()));
    size_t total = 0;
    for (llvm::BasicBlock& block : *function) {
      CHECK(Length(block) <= codegen::kLongestBlock + 1);
      total += Length(block);
      for (llvm::Instruction& instruction : block)
        CHECK((!llvm::isa<llvm::AllocaInst>(instruction) || &block == &function->getEntryBlock()));
    }
    CHECK(total == count);
    // No more blocks than need be.
    CHECK(function->size() <= count / codegen::kLongestBlock + 2);
  }
}

}  // namespace

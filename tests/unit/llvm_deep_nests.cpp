// Loops that begin at one another's counters are counted, and what is beyond the limit is left alone.

#include "catch2/catch.hpp"
#include "codegen/llvm/deep_nests.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/Verifier.h"

namespace {

using namespace adc;

enum class Begin { AtCounter, AtParameter, AtLoad };

/// A function of `depth` loops, each in the one before, whose counters count down.
llvm::Function* Nest(llvm::Module& module, uint32_t depth, Begin begin) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type *i64 = builder.getInt64Ty(), *type = builder.getVoidTy();
  auto* function = llvm::Function::Create(llvm::FunctionType::get(type, {i64, builder.getPtrTy()}, false),
                                          llvm::GlobalValue::ExternalLinkage, "nest", module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  llvm::Value* first = function->getArg(0);
  std::vector<llvm::PHINode*> counters;
  for (uint32_t n = 0; n < depth; ++n) {
    if (begin == Begin::AtLoad) first = builder.CreateLoad(i64, function->getArg(1));
    if (begin == Begin::AtCounter) first = builder.CreateSub(first, builder.getInt64(1));
    llvm::BasicBlock* before = builder.GetInsertBlock();
    llvm::BasicBlock* loop = llvm::BasicBlock::Create(context, "loop", function);
    builder.CreateBr(loop);
    builder.SetInsertPoint(loop);
    counters.push_back(builder.CreatePHI(i64, 2));
    counters.back()->addIncoming(first, before);
    if (begin == Begin::AtCounter) first = counters.back();
  }
  for (uint32_t n = depth; n-- > 0;) {
    llvm::BasicBlock* exit = llvm::BasicBlock::Create(context, "exit", function);
    llvm::Value* next = builder.CreateSub(counters[n], builder.getInt64(1));
    counters[n]->addIncoming(next, builder.GetInsertBlock());
    builder.CreateCondBr(builder.CreateICmpSGT(next, builder.getInt64(0)), counters[n]->getParent(), exit);
    builder.SetInsertPoint(exit);
  }
  builder.CreateRetVoid();
  REQUIRE(!llvm::verifyFunction(*function, &llvm::errs()));
  return function;
}

uint32_t Count(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  return codegen::DependentLoops(function, llvm::LoopInfo(dominators));
}

}  // namespace

TEST_CASE("Loops that begin at another's counter are counted", "[llvm]") {
  for (uint32_t depth : {0u, 1u, 2u, 9u, 40u}) {
    INFO(depth);
    llvm::LLVMContext context;
    llvm::Module module("code", context);
    CHECK(Count(*Nest(module, depth, Begin::AtCounter)) == (depth == 0 ? 0 : depth - 1));
    CHECK(Count(*Nest(module, depth, Begin::AtParameter)) == 0);
    CHECK(Count(*Nest(module, depth, Begin::AtLoad)) == 0);
  }
}

TEST_CASE("Functions beyond the limit, and no others, are kept from analyses of loops", "[llvm]") {
  constexpr uint32_t kMost = codegen::kMostDependentLoops;
  for (auto [depth, begin, is_marked] : {std::tuple{kMost + 1, Begin::AtCounter, false},
                                         {kMost + 2, Begin::AtCounter, true},
                                         {4 * kMost, Begin::AtParameter, false}}) {
    INFO(depth);
    llvm::LLVMContext context;
    llvm::Module module("code", context);
    llvm::Function* function = Nest(module, depth, begin);
    llvm::FunctionAnalysisManager analyses;
    analyses.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    analyses.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    analyses.registerPass([] { return llvm::LoopAnalysis(); });
    codegen::MarkDeepNests().run(*function, analyses);
    CHECK(function->hasOptNone() == is_marked);
    CHECK(!llvm::verifyFunction(*function, &llvm::errs()));

    struct Mark : llvm::PassInfoMixin<Mark> {
      llvm::PreservedAnalyses run(llvm::Function& seen, llvm::FunctionAnalysisManager&) {
        seen.addFnAttr("ran");
        return llvm::PreservedAnalyses::all();
      }
    };
    llvm::FunctionPassManager passes;
    passes.addPass(Mark());
    codegen::ForShallowNests(std::move(passes)).run(*function, analyses);
    CHECK(function->hasFnAttribute("ran") == !is_marked);
  }
}

#include "codegen/llvm/status.h"

#include "artifact/cpu_abi.h"
#include "codegen/llvm/blocks.h"

namespace adc::codegen {

using llvm::Value;

namespace {

llvm::Function* RaiseFunction(llvm::Module& module, llvm::Type* status_type, llvm::SyncScope::ID scope) {
  if (llvm::Function* known = module.getFunction("adc.raise")) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type* word = b.getInt32Ty();
  llvm::Function* raise = NewFunction(module, "adc.raise", b.getVoidTy(),
                                      {status_type, word, word, word, word, b.getInt64Ty(), b.getInt64Ty()});
  raise->setWillReturn();
  raise->setOnlyAccessesArgMemory();
  raise->addFnAttr(llvm::Attribute::Cold);
  raise->addFnAttr(llvm::Attribute::NoInline);
  raise->addParamAttr(0, llvm::Attribute::NoCapture);
  auto* head = llvm::BasicBlock::Create(context, "entry", raise);
  auto* won = llvm::BasicBlock::Create(context, "won", raise);
  auto* late = llvm::BasicBlock::Create(context, "late", raise);
  auto* same = llvm::BasicBlock::Create(context, "same", raise);
  auto* done = llvm::BasicBlock::Create(context, "done", raise);
  b.SetInsertPoint(head);
  Value *status = raise->getArg(0), *source = raise->getArg(1), *needed = raise->getArg(5);
  auto place = [&](uint32_t position) { return b.CreateConstInBoundsGEP1_64(word, status, position); };
  auto* exchange =
      b.CreateAtomicCmpXchg(place(ADRT_CPU_STATUS_SOURCE), b.getInt32(0), source, llvm::Align(4),
                            llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic, scope);
  b.CreateCondBr(b.CreateExtractValue(exchange, 1), won, late);
  b.SetInsertPoint(won);
  auto store = [&](uint32_t position, Value* value) {
    b.CreateAlignedStore(value, place(position), llvm::Align(4));
  };
  store(ADRT_CPU_STATUS_CODE, raise->getArg(2));
  store(ADRT_CPU_STATUS_TASK, raise->getArg(3));
  store(ADRT_CPU_STATUS_INDEX, raise->getArg(4));
  store(ADRT_CPU_STATUS_NEEDED, needed);
  store(ADRT_CPU_STATUS_ITERATION, raise->getArg(6));
  b.CreateBr(done);
  b.SetInsertPoint(late);
  b.CreateCondBr(b.CreateICmpEQ(b.CreateExtractValue(exchange, 0), source), same, done);
  b.SetInsertPoint(same);
  Value* most = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, needed, b.getInt64(UINT32_MAX));
  b.CreateAtomicRMW(llvm::AtomicRMWInst::UMax, place(ADRT_CPU_STATUS_MOST), b.CreateTrunc(most, word),
                    llvm::Align(4), llvm::AtomicOrdering::Monotonic, scope);
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return raise;
}

}  // namespace

llvm::CallInst* CallRaise(llvm::IRBuilder<>& builder, Value* status, llvm::SyncScope::ID scope,
                          const Report& report) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  Value* zero = builder.getInt64(0);
  return builder.CreateCall(
      RaiseFunction(module, status->getType(), scope),
      {status, builder.getInt32(StatusSource(report.code, report.task, report.index)),
       builder.getInt32(static_cast<uint32_t>(report.code)), builder.getInt32(report.task),
       builder.getInt32(report.index), report.needed != nullptr ? report.needed : zero,
       report.iteration != nullptr ? report.iteration : zero});
}

}  // namespace adc::codegen

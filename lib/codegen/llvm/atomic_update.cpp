// LLVM 19 makes of an `atomicrmw fadd` on AArch64 without LSE a loop around a pseudo instruction whose status
// register it believes to be dead, and which then reads as zero:
//
//   ldaxr w10, [x0]; ...; stlxr wzr, w8, [x0]; cbnz wzr, retry        the store's failure goes unseen
//
// A `cmpxchg` that stands in the IR is expanded before instructions are selected, and is right. So there is a
// loop in the IR wherever the operation is one of floats; integers have loops of their own there, which are
// right. EmitCpu looks at the instructions of every object that it writes (exclusive_stores.h), so that
// another way to the pseudo instruction cannot go unseen.
#include "codegen/llvm/atomic_update.h"

#include "codegen/llvm/blocks.h"
#include "support/check.h"

namespace adc::codegen {

using Kind = llvm::AtomicRMWInst::BinOp;
using llvm::Value;

Value* EmitUpdateLoop(llvm::IRBuilder<>& builder, const AtomicCell& cell, const MarkAccess& mark,
                      const std::function<Value*(Value*)>& next) {
  // The bits are compared, so that a NaN in the cell cannot keep the loop going.
  llvm::Type* bits_type = builder.getIntNTy(cell.type->getScalarSizeInBits());
  auto* first = builder.CreateAlignedLoad(bits_type, cell.address, cell.alignment);
  first->setAtomic(llvm::AtomicOrdering::Monotonic, cell.scope);
  mark(first);
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::BasicBlock *loop = NewBlock(builder, "retry"), *done = NewBlock(builder, "updated");
  GoOnIn(builder, loop);
  llvm::PHINode* seen = BeginPhi(builder, first, before);
  Value* old = builder.CreateBitCast(seen, cell.type);
  Value* desired = builder.CreateBitCast(next(old), bits_type);
  auto* exchange = builder.CreateAtomicCmpXchg(cell.address, seen, desired, cell.alignment,
                                               llvm::AtomicOrdering::Monotonic,
                                               llvm::AtomicOrdering::Monotonic, cell.scope);
  // One that fails for no reason costs another turn; one that may not would be a loop in this loop.
  exchange->setWeak(true);
  mark(exchange);
  seen->addIncoming(builder.CreateExtractValue(exchange, 0), builder.GetInsertBlock());
  builder.CreateCondBr(builder.CreateExtractValue(exchange, 1), done, loop);
  builder.SetInsertPoint(done);
  return old;
}

Value* EmitAtomicUpdate(llvm::IRBuilder<>& builder, const target::Target& target, Kind kind,
                        const AtomicCell& cell, Value* operand, const MarkAccess& mark) {
  // LLVM compiles that of a float wrongly for AArch64.
  if (target.arch != target::Arch::AArch64 || !llvm::AtomicRMWInst::isFPOperation(kind)) {
    auto* update = builder.CreateAtomicRMW(kind, cell.address, operand, cell.alignment,
                                           llvm::AtomicOrdering::Monotonic, cell.scope);
    mark(update);
    return update;
  }
  ADC_CHECK(kind == Kind::FAdd || kind == Kind::FSub, "a float operation that the loop knows");
  return EmitUpdateLoop(builder, cell, mark, [&](Value* old) {
    return kind == Kind::FAdd ? builder.CreateFAdd(old, operand) : builder.CreateFSub(old, operand);
  });
}

void EmitAtomicSum(llvm::IRBuilder<>& builder, const target::Target& target, const AtomicCell& cell,
                   Value* value, const MarkAccess& mark) {
  Kind kind = cell.type->isFloatingPointTy() ? Kind::FAdd : Kind::Add;
  EmitAtomicUpdate(builder, target, kind, cell, value, mark);
}

void EmitHalfSum(llvm::IRBuilder<>& builder, const target::Target& target, const AtomicCell& cell,
                 Value* total) {
  auto in_loop = [&] {
    EmitUpdateLoop(
        builder, cell, [](llvm::Instruction*) {},
        [&](Value* old) {
          Value* sum = builder.CreateFAdd(builder.CreateFPExt(old, total->getType()), total);
          return builder.CreateFPTrunc(sum, cell.type);
        });
  };
  constexpr uint32_t kAddsHalves = 70;
  if (target.kind != target::Kind::Cuda || target.level < kAddsHalves) return in_loop();
  // A total beyond f16 may still come to a sum that is one: it is added before it is rounded.
  Value* rounded = builder.CreateFPTrunc(total, cell.type);
  Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, rounded);
  Value* fits = builder.CreateFCmpONE(size, llvm::ConstantFP::getInfinity(cell.type));
  llvm::BasicBlock *at_once = NewBlock(builder, "half_at_once"), *wide = NewBlock(builder, "half_wide"),
                   *done = NewBlock(builder, "half_added");
  builder.CreateCondBr(fits, at_once, wide);
  builder.SetInsertPoint(at_once);
  builder.CreateAtomicRMW(Kind::FAdd, cell.address, rounded, cell.alignment, llvm::AtomicOrdering::Monotonic,
                          cell.scope);
  builder.CreateBr(done);
  builder.SetInsertPoint(wide);
  in_loop();
  GoOnIn(builder, done);
}

}  // namespace adc::codegen

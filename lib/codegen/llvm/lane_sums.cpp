#include "codegen/llvm/lane_sums.h"

#include "llvm/IR/Module.h"

// How lanes with the same cell add up, whichever lanes they are. Each knows its peers, the mask of the lanes
// with its cell, and its rank among them. In each round a lane adds the value of the next peer above it that
// is left; then those of odd rank are done, and ranks halve:
//
//   rank   0 1 2 3 4      0 adds 1, 2 adds 3; 1 and 3 are done
//          0 . 1 . 2      0 adds 2; 2 is done (its rank is now 1)
//          0 . . . 1      0 adds 4
//
// Five rounds at most for 32 lanes, for all cells at once; none where every lane has a cell of its own.

namespace adc::codegen {

using ir::Op;
using ir::Scalar;
using llvm::Value;

void LaneSums::AddGathered(ir::Inst inst, uint32_t) {
  ir::Value operand = kernel_.AccessValues(inst)[0];
  Scalar scalar = kernel_.TypeOf(operand).scalar;
  Value* value = values_.Get(operand);
  if (kernel_[inst].op == Op::AtomicSub) value = scalars_.Emit(Op::Neg, scalar, scalar, {value});
  Value* address = memory_.AddressOf(inst);
  llvm::CallInst* call = builder_.CreateCall(PayFunction(scalar, address->getType()), {address, value});
  aliases_.Mark(call, inst, false);
}

llvm::Function* LaneSums::PayFunction(Scalar scalar, llvm::Type* pointer) {
  llvm::Function* user = builder_.GetInsertBlock()->getParent();
  llvm::Module* module = user->getParent();
  std::string name = std::string("adc.pay.") + ir::Spelling(scalar);
  if (llvm::Function* known = module->getFunction(name)) return known;
  const GpuDialect& wave = *hooks_.Wave();
  llvm::Type* type = scalars_.RegisterType(scalar);
  auto* pay = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), {pointer, type}, false),
                                     llvm::GlobalValue::InternalLinkage, name, *module);
  pay->setDoesNotThrow();
  pay->setConvergent();
  pay->addParamAttr(0, llvm::Attribute::NoCapture);
  wave.MakeFunction(*pay);
  auto block = [&](const char* label) { return llvm::BasicBlock::Create(module->getContext(), label, pay); };
  llvm::BasicBlock* head = block("entry");
  llvm::IRBuilder<> b(head);
  Value* address = pay->getArg(0);
  Value* active = wave.ActiveLanes(b);
  Value* peers = wave.Peers(b, active, b.CreatePtrToInt(address, b.getInt64Ty()));
  Value* lane = wave.Lane(b);
  Value* rank = wave.CountBelow(b, peers);
  Value* first = wave.FirstLane(b, peers);
  llvm::Type* mask_type = wave.MaskType(b);
  Value* none = llvm::ConstantInt::get(mask_type, 0);
  // The lanes above this one: two shifts, since the last lane would shift by the whole width.
  Value* above = b.CreateShl(
      b.CreateShl(llvm::ConstantInt::getAllOnesValue(mask_type), b.CreateZExt(lane, mask_type)), 1);
  Value* waiting = b.CreateAnd(peers, above);
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::BasicBlock* test = block("test");
  llvm::BasicBlock* add = block("add");
  llvm::BasicBlock* summed = block("summed");
  llvm::BasicBlock* update = block("update");
  llvm::BasicBlock* done = block("done");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* left = b.CreatePHI(mask_type, 2, "left");
  llvm::PHINode* order = b.CreatePHI(b.getInt32Ty(), 2, "order");
  llvm::PHINode* sum = b.CreatePHI(type, 2, "sum");
  left->addIncoming(waiting, before);
  order->addIncoming(rank, before);
  sum->addIncoming(pay->getArg(1), before);
  Value* has_next = b.CreateICmpNE(left, none);
  b.CreateCondBr(b.CreateICmpNE(wave.LanesWhere(b, active, has_next), none), add, summed);
  b.SetInsertPoint(add);
  Value* next = b.CreateSelect(has_next, wave.FirstLane(b, left), lane);
  Value* other = wave.ReadScalar(b, active, sum, next);
  Value* total = ir::IsFloat(scalar) ? b.CreateFAdd(sum, other) : b.CreateAdd(sum, other);
  Value* odd = b.CreateTrunc(order, b.getInt1Ty());
  Value* finished = wave.LanesWhere(b, active, odd);
  left->addIncoming(b.CreateAnd(left, b.CreateNot(finished)), b.GetInsertBlock());
  order->addIncoming(b.CreateLShr(order, 1), b.GetInsertBlock());
  sum->addIncoming(b.CreateSelect(has_next, total, sum), b.GetInsertBlock());
  b.CreateBr(test);
  b.SetInsertPoint(summed);
  b.CreateCondBr(b.CreateICmpEQ(lane, first), update, done);
  b.SetInsertPoint(update);
  auto kind = ir::IsFloat(scalar) ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add;
  b.CreateAtomicRMW(kind, address, sum, llvm::Align(ir::ByteSize(scalar)), llvm::AtomicOrdering::Monotonic,
                    hooks_.AtomicScope());
  b.CreateBr(done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return pay;
}

void LaneSums::EndSum(const Sum& sum) {
  const GpuDialect& wave = *hooks_.Wave();
  Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(sum.what->first)[0]).scalar;
  Value* total = TotalOf(sum);
  Value* touched = TouchedOf(sum);
  for (uint32_t distance = wave.Lanes() / 2; distance != 0; distance /= 2)
    total =
        Combine(sum.what->reduction, false, scalar, total, wave.ReadScalarAcross(builder_, total, distance));
  Value* chosen = builder_.CreateICmpEQ(wave.Lane(builder_), builder_.getInt32(0));
  if (touched != nullptr) {
    Value* lanes = wave.LanesWhere(builder_, wave.EveryLane(builder_), touched);
    chosen =
        builder_.CreateAnd(chosen, builder_.CreateICmpNE(lanes, llvm::ConstantInt::get(lanes->getType(), 0)));
  }
  PayIf(chosen, sum, total);
}

}  // namespace adc::codegen

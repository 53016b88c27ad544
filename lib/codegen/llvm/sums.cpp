#include "codegen/llvm/sums.h"

#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op;
using ir::Scalar;
using llvm::Value;

namespace {

constexpr uint64_t kSlots = 128;

/// What a sum starts from: it leaves a cell as it is, to the bit.
llvm::Constant* StartOf(Reduction reduction, Scalar scalar, llvm::Type* type) {
  bool is_signed = ir::IsSigned(scalar);
  uint32_t width = ir::BitWidth(scalar);
  switch (reduction) {
    case Reduction::Add:
      return ir::IsFloat(scalar) ? llvm::ConstantFP::getNegativeZero(type) : llvm::ConstantInt::get(type, 0);
    case Reduction::Min:
      if (ir::IsFloat(scalar)) return llvm::ConstantFP::getInfinity(type);
      return llvm::ConstantInt::get(
          type, is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width));
    case Reduction::Max:
      if (ir::IsFloat(scalar)) return llvm::ConstantFP::getInfinity(type, true);
      return llvm::ConstantInt::get(
          type, is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getMinValue(width));
    case Reduction::And:
      return llvm::Constant::getAllOnesValue(type);
    case Reduction::Or:
    case Reduction::Xor:
      return llvm::ConstantInt::get(type, 0);
  }
  ADC_UNREACHABLE("kind of a reduction");
}

Op AtomicOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::Add:
      return Op::AtomicAdd;
    case Reduction::Min:
      return Op::AtomicMin;
    case Reduction::Max:
      return Op::AtomicMax;
    case Reduction::And:
      return Op::AtomicAnd;
    case Reduction::Or:
      return Op::AtomicOr;
    case Reduction::Xor:
      return Op::AtomicXor;
  }
  ADC_UNREACHABLE("kind of a reduction");
}

/// An internal function of the module that keeps to the memory it is given and to cells.
llvm::Function* MakeHelper(llvm::Module& module, const std::string& name, llvm::Function* like,
                           llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false);
  auto* helper = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  helper->setDoesNotThrow();
  helper->addFnAttr(llvm::Attribute::NoInline);
  helper->addParamAttr(0, llvm::Attribute::NoCapture);
  helper->addParamAttr(1, llvm::Attribute::NoCapture);
  for (const char* attribute : {"target-cpu", "target-features"}) {
    if (like->hasFnAttribute(attribute)) helper->addFnAttr(like->getFnAttribute(attribute));
  }
  return helper;
}

/// Adds `value` to the cell at `address`, an integer.
void Pay(llvm::IRBuilder<>& builder, Scalar scalar, Value* address, Value* value) {
  auto kind = ir::IsFloat(scalar) ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add;
  builder.CreateAtomicRMW(kind, builder.CreateIntToPtr(address, builder.getPtrTy()), value,
                          llvm::Align(ir::ByteSize(scalar)), llvm::AtomicOrdering::Monotonic);
}

}  // namespace

llvm::BasicBlock* SumEmitter::NewBlock(const char* name) {
  return llvm::BasicBlock::Create(builder_.getContext(), name, builder_.GetInsertBlock()->getParent());
}

void SumEmitter::Begin(const ChunkSums& sums) {
  chunk_sums_ = &sums;
  for (const ChunkSum& sum : sums.sums) {
    ir::Type type = kernel_.TypeOf(kernel_.AccessValues(sum.first)[0]);
    Sum state{&sum, hooks_.Local(scalars_.RegisterType(type.scalar), "sum"), nullptr};
    builder_.CreateStore(StartOf(sum.reduction, type.scalar, state.total->getAllocatedType()), state.total);
    // An update that adds nothing may be made in vain where the cell exists for sure and stays the same to
    // the bit.
    bool harmless = kernel_[sum.first].index_count == 0 && sum.reduction == Reduction::Add;
    if (sum.conditional && !harmless) {
      state.touched = hooks_.Local(builder_.getInt1Ty(), "touched");
      builder_.CreateStore(builder_.getFalse(), state.touched);
    }
    sums_.push_back(state);
  }
  for (ir::Inst first : sums.gathered) {
    Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(first)[0]).scalar;
    auto* tags = hooks_.Local(llvm::ArrayType::get(builder_.getInt64Ty(), kSlots), "tags");
    auto* owed = hooks_.Local(llvm::ArrayType::get(scalars_.RegisterType(scalar), kSlots), "owed");
    builder_.CreateMemSet(tags, builder_.getInt8(0), kSlots * 8, tags->getAlign());
    tables_.push_back({first, scalar, tags, owed});
  }
}

bool SumEmitter::Accumulate(ir::Inst inst) {
  if (chunk_sums_ == nullptr) return false;
  if (uint32_t sum = chunk_sums_->sum_of.Get(inst); sum != ir::kNoAttr) {
    AddToSum(inst, sums_[sum]);
    return true;
  }
  if (uint32_t table = chunk_sums_->gathered_of.Get(inst); table != ir::kNoAttr) {
    AddToTable(inst, tables_[table]);
    return true;
  }
  return false;
}

Value* SumEmitter::Combine(Reduction reduction, bool subtract, Scalar scalar, Value* old, Value* value) {
  bool truth = scalar == Scalar::I1;
  switch (reduction) {
    case Reduction::Add:
      if (truth) return builder_.CreateXor(old, value);
      return scalars_.Emit(subtract ? Op::Sub : Op::Add, scalar, scalar, {old, value});
    case Reduction::Min:
      return truth ? builder_.CreateAnd(old, value) : scalars_.Emit(Op::Min, scalar, scalar, {old, value});
    case Reduction::Max:
      return truth ? builder_.CreateOr(old, value) : scalars_.Emit(Op::Max, scalar, scalar, {old, value});
    case Reduction::And:
      return builder_.CreateAnd(old, value);
    case Reduction::Or:
      return builder_.CreateOr(old, value);
    case Reduction::Xor:
      return builder_.CreateXor(old, value);
  }
  ADC_UNREACHABLE("kind of a reduction");
}

void SumEmitter::AddToSum(ir::Inst inst, const Sum& sum) {
  Value* value = values_.Get(kernel_.AccessValues(inst)[0]);
  Scalar scalar = kernel_.TypeOf(kernel_.AccessValues(inst)[0]).scalar;
  Value* old = builder_.CreateLoad(sum.total->getAllocatedType(), sum.total);
  Value* total = nullptr;
  {
    // The order of a sum over parallel iterations is nobody's to rely on: it may be split over vector lanes.
    llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
    llvm::FastMathFlags flags = builder_.getFastMathFlags();
    flags.setAllowReassoc(true);
    builder_.setFastMathFlags(flags);
    total = Combine(sum.what->reduction, kernel_[inst].op == Op::AtomicSub, scalar, old, value);
  }
  builder_.CreateStore(total, sum.total);
  if (sum.touched != nullptr) builder_.CreateStore(builder_.getTrue(), sum.touched);
}

void SumEmitter::AddToTable(ir::Inst inst, const Table& table) {
  Value* value = values_.Get(kernel_.AccessValues(inst)[0]);
  if (kernel_[inst].op == Op::AtomicSub) value = scalars_.Emit(Op::Neg, table.scalar, table.scalar, {value});
  llvm::Type* word = builder_.getInt64Ty();
  Value* address = builder_.CreatePtrToInt(memory_.AddressOf(inst), word);
  Value* slot = builder_.CreateLShr(address, llvm::Log2_32(ir::ByteSize(table.scalar)));
  slot = builder_.CreateAnd(slot, builder_.getInt64(kSlots - 1));
  Value* tag = builder_.CreateLoad(word, builder_.CreateInBoundsGEP(word, table.tags, slot));
  llvm::BasicBlock* known = NewBlock("gather");
  llvm::BasicBlock* other = NewBlock("gather_other");
  llvm::BasicBlock* done = NewBlock("gathered");
  builder_.CreateCondBr(builder_.CreateICmpEQ(tag, address), known, other,
                        llvm::MDBuilder(builder_.getContext()).createBranchWeights(1000, 1));
  builder_.SetInsertPoint(known);
  llvm::Type* type = scalars_.RegisterType(table.scalar);
  Value* place = builder_.CreateInBoundsGEP(type, table.owed, slot);
  Value* owed = builder_.CreateLoad(type, place);
  builder_.CreateStore(Combine(Reduction::Add, false, table.scalar, owed, value), place);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(other);
  llvm::CallInst* call =
      builder_.CreateCall(OweFunction(table.scalar), {table.tags, table.owed, slot, address, value});
  aliases_.Mark(call, inst, false);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

llvm::Function* SumEmitter::OweFunction(Scalar scalar) {
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  std::string name = std::string("adc.owe.") + ir::Spelling(scalar);
  if (llvm::Function* known = module->getFunction(name)) return known;
  llvm::IRBuilder<> b(module->getContext());
  llvm::Type* word = b.getInt64Ty();
  llvm::Type* type = scalars_.RegisterType(scalar);
  llvm::Function* helper = MakeHelper(*module, name, builder_.GetInsertBlock()->getParent(),
                                      {b.getPtrTy(), b.getPtrTy(), word, word, type});
  helper->addFnAttr(llvm::Attribute::Cold);
  auto block = [&](const char* label) {
    return llvm::BasicBlock::Create(module->getContext(), label, helper);
  };
  llvm::BasicBlock* head = block("entry");
  llvm::BasicBlock* pay = block("pay");
  llvm::BasicBlock* take = block("take");
  b.SetInsertPoint(head);
  Value* tag_place = b.CreateInBoundsGEP(word, helper->getArg(0), helper->getArg(2));
  Value* owed_place = b.CreateInBoundsGEP(type, helper->getArg(1), helper->getArg(2));
  Value* tag = b.CreateLoad(word, tag_place);
  b.CreateCondBr(b.CreateICmpNE(tag, b.getInt64(0)), pay, take);
  b.SetInsertPoint(pay);
  Pay(b, scalar, tag, b.CreateLoad(type, owed_place));
  b.CreateBr(take);
  b.SetInsertPoint(take);
  b.CreateStore(helper->getArg(3), tag_place);
  b.CreateStore(helper->getArg(4), owed_place);
  b.CreateRetVoid();
  return helper;
}

llvm::Function* SumEmitter::SettleFunction(Scalar scalar) {
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  std::string name = std::string("adc.settle.") + ir::Spelling(scalar);
  if (llvm::Function* known = module->getFunction(name)) return known;
  llvm::IRBuilder<> b(module->getContext());
  llvm::Type* word = b.getInt64Ty();
  llvm::Type* type = scalars_.RegisterType(scalar);
  llvm::Function* helper =
      MakeHelper(*module, name, builder_.GetInsertBlock()->getParent(), {b.getPtrTy(), b.getPtrTy()});
  auto block = [&](const char* label) {
    return llvm::BasicBlock::Create(module->getContext(), label, helper);
  };
  llvm::BasicBlock* head = block("entry");
  llvm::BasicBlock* look = block("look");
  llvm::BasicBlock* pay = block("pay");
  llvm::BasicBlock* next = block("next");
  llvm::BasicBlock* done = block("done");
  b.SetInsertPoint(head);
  b.CreateBr(look);
  b.SetInsertPoint(look);
  llvm::PHINode* slot = b.CreatePHI(word, 2);
  slot->addIncoming(b.getInt64(0), head);
  Value* tag = b.CreateLoad(word, b.CreateInBoundsGEP(word, helper->getArg(0), slot));
  b.CreateCondBr(b.CreateICmpNE(tag, b.getInt64(0)), pay, next);
  b.SetInsertPoint(pay);
  Pay(b, scalar, tag, b.CreateLoad(type, b.CreateInBoundsGEP(type, helper->getArg(1), slot)));
  b.CreateBr(next);
  b.SetInsertPoint(next);
  Value* following = b.CreateAdd(slot, b.getInt64(1));
  slot->addIncoming(following, next);
  b.CreateCondBr(b.CreateICmpULT(following, b.getInt64(kSlots)), look, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return helper;
}

void SumEmitter::End() {
  for (const Sum& sum : sums_) {
    llvm::BasicBlock* skip = nullptr;
    if (sum.touched != nullptr) {
      llvm::BasicBlock* update = NewBlock("sum_update");
      skip = NewBlock("sum_done");
      builder_.CreateCondBr(builder_.CreateLoad(builder_.getInt1Ty(), sum.touched), update, skip);
      builder_.SetInsertPoint(update);
    }
    memory_.EmitAtomic(sum.what->first, AtomicOf(sum.what->reduction),
                       builder_.CreateLoad(sum.total->getAllocatedType(), sum.total));
    if (skip != nullptr) {
      builder_.CreateBr(skip);
      builder_.SetInsertPoint(skip);
    }
  }
  for (const Table& table : tables_)
    aliases_.Mark(builder_.CreateCall(SettleFunction(table.scalar), {table.tags, table.owed}), table.first,
                  false);
  sums_.clear();
  tables_.clear();
  chunk_sums_ = nullptr;
}

}  // namespace adc::codegen

// Sums of a worker that runs alone: gathered sums live in a table, in memory.
//
// The address of a cell picks a slot, which holds an address and its partial sum.
//
//   slot = (address / size) mod slots
//   tags[slot] = address ? partial[slot] += v
//                        : flush partial[slot] to tags[slot]; tags[slot] = address; partial[slot] = v
//
// Neighbouring components fall into neighbouring slots: those of one small array do not evict each other.

#include "codegen/llvm/atomic_update.h"
#include "codegen/llvm/sums.h"
#include "ir/module.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

namespace {

constexpr uint64_t kSlots = 128;

/// Adds `value` to the cell at `address`, an integer.
void AddToCell(llvm::IRBuilder<>& builder, const target::Target& target, Scalar scalar, Value* address,
               Value* value) {
  AtomicCell cell{builder.CreateIntToPtr(address, builder.getPtrTy()), value->getType(),
                  llvm::Align(ir::ByteSize(scalar))};
  EmitAtomicSum(builder, target, cell, value);
}

class GatherTables final : public SumEmitter {
 public:
  using SumEmitter::SumEmitter;

 private:
  struct Table {
    ir::Inst first;
    ir::Scalar scalar = ir::Scalar::F32;
    llvm::AllocaInst* tags = nullptr;
    llvm::AllocaInst* partial = nullptr;
  };

  void BeginGathered(const PrivateSums& sums) override {
    for (ir::Inst first : sums.gathered) {
      Scalar scalar = UpdateScalar(kernel_, first);
      auto* tags = hooks_.Local(llvm::ArrayType::get(builder_.getInt64Ty(), kSlots), "tags");
      auto* partial = hooks_.Local(llvm::ArrayType::get(scalars_.RegisterType(scalar), kSlots), "sums");
      builder_.CreateMemSet(tags, builder_.getInt8(0), kSlots * 8, tags->getAlign());
      tables_.push_back({first, scalar, tags, partial});
    }
  }

  void AddGathered(ir::Inst inst, uint32_t number) override {
    const Table& table = tables_[number];
    Value* value = ValueOf(inst);
    llvm::Type* word = builder_.getInt64Ty();
    Value* address = builder_.CreatePtrToInt(memory_.AddressOf(inst), word);
    Value* slot = builder_.CreateLShr(address, llvm::Log2_32(ir::ByteSize(table.scalar)));
    slot = builder_.CreateAnd(slot, builder_.getInt64(kSlots - 1));
    Value* tag = builder_.CreateLoad(word, builder_.CreateInBoundsGEP(word, table.tags, slot));
    llvm::BasicBlock* known = NewBlock(builder_, "gather");
    llvm::BasicBlock* other = NewBlock(builder_, "gather_other");
    llvm::BasicBlock* done = NewBlock(builder_, "gathered");
    builder_.CreateCondBr(builder_.CreateICmpEQ(tag, address), known, other,
                          llvm::MDBuilder(builder_.getContext()).createBranchWeights(1000, 1));
    builder_.SetInsertPoint(known);
    llvm::Type* type = scalars_.RegisterType(table.scalar);
    Value* place = builder_.CreateInBoundsGEP(type, table.partial, slot);
    Value* partial = builder_.CreateLoad(type, place);
    builder_.CreateStore(memory_.Combine(Op::AtomicAdd, table.scalar, partial, {value}), place);
    builder_.CreateBr(done);
    builder_.SetInsertPoint(other);
    llvm::CallInst* call =
        builder_.CreateCall(ReplaceFunction(table.scalar), {table.tags, table.partial, slot, address, value});
    aliases_.Mark(call, inst, false);
    GoOnIn(builder_, done);
  }

  void EndSums(const std::vector<Sum>& sums) override {
    for (const Sum& sum : sums) {
      if (Value* touched = TouchedOf(sum, TotalOf(sum))) {
        UpdateIf(touched, sum, nullptr);
      } else {
        Update(sum, TotalOf(sum));
      }
    }
  }

  void EndGathered() override {
    for (const Table& table : tables_)
      aliases_.Mark(builder_.CreateCall(FlushAllFunction(table.scalar), {table.tags, table.partial}),
                    table.first, false);
    tables_.clear();
  }

  /// A helper that keeps to the memory it is given and to cells: tags and partial sums come first.
  llvm::Function* MakeHelper(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters) {
    llvm::Function* like = builder_.GetInsertBlock()->getParent();
    llvm::Function* helper = NewFunction(*like->getParent(), name, builder_.getVoidTy(), parameters, like);
    helper->addFnAttr(llvm::Attribute::NoInline);
    helper->addParamAttr(0, llvm::Attribute::NoCapture);
    helper->addParamAttr(1, llvm::Attribute::NoCapture);
    return helper;
  }

  /// `adc.replace.<type>(tags, partial, slot, address, value)`: gives a slot to another cell.
  llvm::Function* ReplaceFunction(Scalar scalar) {
    llvm::Module* module = builder_.GetInsertBlock()->getModule();
    std::string name = std::string("adc.replace.") + ir::Spelling(scalar);
    if (llvm::Function* known = module->getFunction(name)) return known;
    llvm::IRBuilder<> b(module->getContext());
    llvm::Type* word = b.getInt64Ty();
    llvm::Type* type = scalars_.RegisterType(scalar);
    llvm::Function* helper = MakeHelper(name, {b.getPtrTy(), b.getPtrTy(), word, word, type});
    helper->addFnAttr(llvm::Attribute::Cold);
    b.SetInsertPoint(llvm::BasicBlock::Create(module->getContext(), "entry", helper));
    Value* tag_place = b.CreateInBoundsGEP(word, helper->getArg(0), helper->getArg(2));
    Value* sum_place = b.CreateInBoundsGEP(type, helper->getArg(1), helper->getArg(2));
    Value* tag = b.CreateLoad(word, tag_place);
    EmitWhen(b, b.CreateICmpNE(tag, b.getInt64(0)), "flush", "take",
             [&] { AddToCell(b, hooks_.Description(), scalar, tag, b.CreateLoad(type, sum_place)); });
    b.CreateStore(helper->getArg(3), tag_place);
    b.CreateStore(helper->getArg(4), sum_place);
    b.CreateRetVoid();
    return helper;
  }

  /// `adc.flush.all.<type>(tags, partial)`: flushes every slot.
  llvm::Function* FlushAllFunction(Scalar scalar) {
    llvm::Module* module = builder_.GetInsertBlock()->getModule();
    std::string name = std::string("adc.flush.all.") + ir::Spelling(scalar);
    if (llvm::Function* known = module->getFunction(name)) return known;
    llvm::IRBuilder<> b(module->getContext());
    llvm::Type* word = b.getInt64Ty();
    llvm::Type* type = scalars_.RegisterType(scalar);
    llvm::Function* helper = MakeHelper(name, {b.getPtrTy(), b.getPtrTy()});
    llvm::BasicBlock* head = llvm::BasicBlock::Create(module->getContext(), "entry", helper);
    b.SetInsertPoint(head);
    llvm::BasicBlock *look = NewBlock(b, "look"), *flush = NewBlock(b, "flush"), *next = NewBlock(b, "next"),
                     *done = NewBlock(b, "done");
    GoOnIn(b, look);
    llvm::PHINode* slot = BeginPhi(b, b.getInt64(0), head);
    Value* tag = b.CreateLoad(word, b.CreateInBoundsGEP(word, helper->getArg(0), slot));
    b.CreateCondBr(b.CreateICmpNE(tag, b.getInt64(0)), flush, next);
    b.SetInsertPoint(flush);
    AddToCell(b, hooks_.Description(), scalar, tag,
              b.CreateLoad(type, b.CreateInBoundsGEP(type, helper->getArg(1), slot)));
    GoOnIn(b, next);
    Value* following = b.CreateAdd(slot, b.getInt64(1));
    slot->addIncoming(following, next);
    b.CreateCondBr(b.CreateICmpULT(following, b.getInt64(kSlots)), look, done);
    b.SetInsertPoint(done);
    b.CreateRetVoid();
    return helper;
  }

  std::vector<Table> tables_;
};

}  // namespace

std::unique_ptr<SumEmitter> MakeGatherTables(const KernelPart& part) {
  return std::make_unique<GatherTables>(part);
}

}  // namespace adc::codegen

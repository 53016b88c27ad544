#include "codegen/cpu/own_copies.h"

#include <set>

#include "analysis/walk.h"
#include "codegen/llvm/atomic_update.h"
#include "codegen/llvm/half.h"
#include "llvm/IR/MDBuilder.h"

namespace adc::codegen {
namespace {

using ir::Scalar;
using llvm::Value;

/// Pieces of a launch, each of which is worth its copies.
constexpr uint64_t kPieces = 16;

class Emitter {
 public:
  Emitter(const ir::Function& kernel, llvm::IRBuilder<>& builder, CpuTask& hooks)
      : kernel_(kernel), builder_(builder), hooks_(hooks) {}

  void Place(uint32_t param) {
    ir::Type type = kernel_.TypeOf(kernel_.Params()[param]);
    Copy copy{param, type.scalar, builder_.getInt64(type.Components()), nullptr};
    for (uint32_t axis = 0; axis < type.count; ++axis)
      copy.count = builder_.CreateMul(copy.count, hooks_.Extent(param, axis));
    copies_.push_back(copy);
  }

  void Run(llvm::Function* alone, uint64_t bytes_per_iteration) {
    llvm::BasicBlock* own = NewBlock(builder_, "own_copies");
    llvm::BasicBlock* shared = NewBlock(builder_, "shared");
    Value* has_copies = builder_.getTrue();
    Value* bytes = builder_.getInt64(0);
    for (uint32_t number = 0; number < copies_.size(); ++number) {
      Value* count = copies_[number].count;
      has_copies = builder_.CreateAnd(has_copies, builder_.CreateICmpULE(count, hooks_.CopyCapacity(number)));
      bytes = builder_.CreateAdd(bytes, BytesOf(copies_[number]));
    }
    // A few iterations of many are not worth clearing and adding copies.
    Value* iterations = builder_.CreateSub(hooks_.End(), hooks_.Begin());
    Value* per_iteration = builder_.CreateUDiv(bytes, builder_.getInt64(bytes_per_iteration * kPieces));
    Value* is_worth = builder_.CreateICmpULE(per_iteration, iterations);
    builder_.CreateCondBr(builder_.CreateAnd(has_copies, is_worth), own, shared);
    builder_.SetInsertPoint(own);
    std::vector<std::pair<uint32_t, Value*>> buffers;
    for (uint32_t number = 0; number < copies_.size(); ++number) {
      Copy& copy = copies_[number];
      copy.address = hooks_.CopyAddress(number);
      builder_.CreateMemSet(copy.address, builder_.getInt8(0), BytesOf(copy),
                            llvm::MaybeAlign(ir::ByteSize(copy.scalar)));
      buffers.emplace_back(copy.param, copy.address);
    }
    CallForm(builder_, alone, {hooks_.FrameWith(buffers), hooks_.Begin(), hooks_.End()});
    for (const Copy& copy : copies_)
      builder_.CreateCall(AddFunction(copy.scalar),
                          {copy.address, hooks_.BufferAddress(copy.param), copy.count});
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(shared);
  }

 private:
  struct Copy {
    uint32_t param;
    Scalar scalar;
    Value* count;  ///< of scalars
    Value* address;
  };

  Value* BytesOf(const Copy& copy) {
    return builder_.CreateMul(copy.count, builder_.getInt64(ir::ByteSize(copy.scalar)));
  }

  /// `adc.add.copy.<type>(copy, buffer, count)`: adds what is not zero.
  llvm::Function* AddFunction(Scalar scalar) {
    llvm::Module* module = hooks_.Entry()->getParent();
    std::string name = std::string("adc.add.copy.") + ir::Spelling(scalar);
    if (llvm::Function* known = module->getFunction(name)) return known;
    llvm::IRBuilder<> b(module->getContext());
    llvm::Type* word = b.getInt64Ty();
    llvm::Type* type = RegisterTypeOf(b, hooks_.Description(), scalar);
    llvm::Function* add =
        NewFunction(*module, name, b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), word}, hooks_.Entry());
    add->addFnAttr(llvm::Attribute::NoInline);
    llvm::BasicBlock* head = llvm::BasicBlock::Create(module->getContext(), "entry", add);
    b.SetInsertPoint(head);
    llvm::BasicBlock *look = NewBlock(b, "look"), *update = NewBlock(b, "update"),
                     *next = NewBlock(b, "next"), *done = NewBlock(b, "done");
    b.CreateCondBr(b.CreateICmpEQ(add->getArg(2), b.getInt64(0)), done, look);
    b.SetInsertPoint(look);
    llvm::PHINode* cell = BeginPhi(b, b.getInt64(0), head);
    Value* sum = b.CreateLoad(type, b.CreateInBoundsGEP(type, add->getArg(0), cell));
    Value* zero = llvm::Constant::getNullValue(type);
    // A NaN is not zero.
    Value* is_something = ir::IsFloat(scalar) ? b.CreateFCmpUNE(sum, zero) : b.CreateICmpNE(sum, zero);
    b.CreateCondBr(is_something, update, next);
    b.SetInsertPoint(update);
    AtomicCell to{b.CreateInBoundsGEP(type, add->getArg(1), cell), type, llvm::Align(ir::ByteSize(scalar))};
    EmitAtomicSum(b, hooks_.Description(), to, sum);
    GoOnIn(b, next);
    Value* following = b.CreateAdd(cell, b.getInt64(1));
    cell->addIncoming(following, next);
    b.CreateCondBr(b.CreateICmpULT(following, add->getArg(2)), look, done);
    b.SetInsertPoint(done);
    b.CreateRetVoid();
    return add;
  }

  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  CpuTask& hooks_;
  std::vector<Copy> copies_;
};

}  // namespace

SumCopies OwnCopies(const ir::Function& kernel, ir::Inst parallel) {
  SumCopies copies;
  std::set<uint32_t> params;
  analysis::ForEachInst(kernel, kernel[parallel].regions[0], [&](ir::Inst inst) {
    if (!kernel[inst].Has(ir::Word::Copied)) return;
    if (params.empty()) copies.place = kernel[inst].span;
    params.insert(kernel[kernel.Operand(inst, 0)].number);
  });
  copies.params.assign(params.begin(), params.end());
  copies.bytes_per_iteration = kernel.WorkersOf(parallel).copies;
  return copies;
}

void EmitOwnCopies(const ir::Function& kernel, const SumCopies& copies, llvm::IRBuilder<>& builder,
                   CpuTask& hooks, llvm::Function* alone) {
  Emitter emitter(kernel, builder, hooks);
  for (uint32_t param : copies.params) emitter.Place(param);
  hooks.AddCopies(static_cast<uint32_t>(copies.params.size()));
  emitter.Run(alone, copies.bytes_per_iteration);
}

}  // namespace adc::codegen

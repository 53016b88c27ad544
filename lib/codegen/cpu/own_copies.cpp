#include "codegen/cpu/own_copies.h"

#include <set>

#include "codegen/cpu/alone.h"
#include "codegen/llvm/atomic_update.h"
#include "ir/module.h"
#include "llvm/IR/MDBuilder.h"

namespace adc::codegen {
namespace {

using ir::Scalar;
using llvm::Value;

/// What copies may take of a worker's stack, which an engine may have made small.
constexpr uint64_t kMostBytes = 32768;
/// A call clears its copies and adds them: so much of them costs little beside one iteration that sweeps
/// cells.
constexpr uint64_t kBytesPerIteration = 4096;
constexpr uint64_t kLine = 64;

struct Updates {
  std::set<uint32_t> gathered;  ///< parameters whose sums are gathered: additions alone touch them
  std::set<uint32_t> all;       ///< parameters with updates that meet those of other iterations
  bool sweeps = false;
};

void Collect(const ir::Function& kernel, ir::Block block, bool is_in_loop, Updates& updates) {
  for (ir::Inst inst : kernel[block].insts) {
    const ir::InstData& data = kernel[inst];
    if (UpdatesTogether(kernel, inst)) {
      uint32_t param = kernel[kernel.Operand(inst, 0)].number;
      bool is_gathered = (data.flags & ir::kFlagGathered) != 0;
      updates.all.insert(param);
      if (is_gathered) updates.gathered.insert(param);
      updates.sweeps = updates.sweeps || (is_gathered && is_in_loop);
    }
    bool is_loop = data.op == ir::Op::For || data.op == ir::Op::While;
    for (ir::Block region : data.regions) {
      if (region.Valid()) Collect(kernel, region, is_in_loop || is_loop, updates);
    }
  }
}

class Emitter {
 public:
  Emitter(const ir::Function& kernel, llvm::IRBuilder<>& builder, CpuTask& hooks)
      : kernel_(kernel), builder_(builder), hooks_(hooks), end_(builder.getInt64(0)) {}

  void Place(uint32_t param) {
    ir::Type type = kernel_.TypeOf(kernel_.Params()[param]);
    Copy copy{param, type.scalar, builder_.getInt64(type.Components()), end_, nullptr};
    for (uint32_t axis = 0; axis < type.count; ++axis)
      copy.count = builder_.CreateMul(copy.count, hooks_.Extent(param, axis));
    Value* bytes = builder_.CreateMul(copy.count, builder_.getInt64(ir::ByteSize(copy.scalar)));
    bytes = builder_.CreateAnd(builder_.CreateAdd(bytes, builder_.getInt64(kLine - 1)),
                               builder_.getInt64(~(kLine - 1)));
    end_ = builder_.CreateAdd(end_, bytes);
    copies_.push_back(copy);
  }

  void Run(llvm::Function* alone) {
    llvm::BasicBlock* own = NewBlock("own_copies");
    llvm::BasicBlock* shared = NewBlock("shared");
    Value* iterations = builder_.CreateSub(hooks_.End(), hooks_.Begin());
    Value* worth = builder_.CreateMul(iterations, builder_.getInt64(kBytesPerIteration));
    Value* most = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, worth, builder_.getInt64(kMostBytes));
    builder_.CreateCondBr(builder_.CreateICmpULE(end_, most), own, shared);
    builder_.SetInsertPoint(own);
    llvm::AllocaInst* memory = builder_.CreateAlloca(builder_.getInt8Ty(), end_, "copies");
    memory->setAlignment(llvm::Align(kLine));
    builder_.CreateMemSet(memory, builder_.getInt8(0), end_, llvm::MaybeAlign(kLine));
    std::vector<std::pair<uint32_t, Value*>> buffers;
    for (Copy& copy : copies_) {
      copy.address = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), memory, copy.offset);
      buffers.emplace_back(copy.param, copy.address);
    }
    builder_.CreateCall(alone, {hooks_.FrameWith(buffers), hooks_.Begin(), hooks_.End()});
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
    Value* count;   ///< of scalars
    Value* offset;  ///< among the copies, in bytes
    Value* address;
  };

  llvm::BasicBlock* NewBlock(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, hooks_.Entry());
  }

  /// `adc.add.copy.<type>(copy, buffer, count)`: adds what is not zero.
  llvm::Function* AddFunction(Scalar scalar) {
    llvm::Module* module = hooks_.Entry()->getParent();
    std::string name = std::string("adc.add.copy.") + ir::Spelling(scalar);
    if (llvm::Function* known = module->getFunction(name)) return known;
    llvm::IRBuilder<> b(module->getContext());
    llvm::Type* word = b.getInt64Ty();
    llvm::Type* type = scalar == Scalar::F32   ? b.getFloatTy()
                       : scalar == Scalar::F64 ? b.getDoubleTy()
                                               : static_cast<llvm::Type*>(b.getIntNTy(ir::BitWidth(scalar)));
    auto* signature = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), word}, false);
    auto* add = llvm::Function::Create(signature, llvm::GlobalValue::InternalLinkage, name, module);
    add->setDoesNotThrow();
    add->addFnAttr(llvm::Attribute::NoInline);
    for (const char* attribute : {"target-cpu", "target-features"}) {
      if (hooks_.Entry()->hasFnAttribute(attribute))
        add->addFnAttr(hooks_.Entry()->getFnAttribute(attribute));
    }
    auto block = [&](const char* label) {
      return llvm::BasicBlock::Create(module->getContext(), label, add);
    };
    llvm::BasicBlock *head = block("entry"), *look = block("look"), *update = block("update"),
                     *next = block("next"), *done = block("done");
    b.SetInsertPoint(head);
    b.CreateCondBr(b.CreateICmpEQ(add->getArg(2), b.getInt64(0)), done, look);
    b.SetInsertPoint(look);
    llvm::PHINode* cell = b.CreatePHI(word, 2);
    cell->addIncoming(b.getInt64(0), head);
    Value* sum = b.CreateLoad(type, b.CreateInBoundsGEP(type, add->getArg(0), cell));
    Value* zero = llvm::Constant::getNullValue(type);
    // A NaN is not zero.
    Value* is_something = ir::IsFloat(scalar) ? b.CreateFCmpUNE(sum, zero) : b.CreateICmpNE(sum, zero);
    b.CreateCondBr(is_something, update, next);
    b.SetInsertPoint(update);
    auto kind = ir::IsFloat(scalar) ? llvm::AtomicRMWInst::FAdd : llvm::AtomicRMWInst::Add;
    AtomicCell to{b.CreateInBoundsGEP(type, add->getArg(1), cell), type, llvm::Align(ir::ByteSize(scalar))};
    EmitAtomicUpdate(b, hooks_.Description(), kind, to, sum, [](llvm::Instruction*) {});
    b.CreateBr(next);
    b.SetInsertPoint(next);
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
  Value* end_;  ///< of the copies so far, in bytes
  std::vector<Copy> copies_;
};

}  // namespace

std::vector<uint32_t> OwnCopies(const ir::Function& kernel, ir::Inst parallel) {
  Updates updates;
  Collect(kernel, kernel[parallel].regions[0], false, updates);
  if (!updates.sweeps || updates.all != updates.gathered) return {};
  for (uint32_t param : updates.all) {
    if (kernel.params[param].alias || !kernel.TypeOf(kernel.Params()[param]).IsBuffer()) return {};
  }
  return {updates.all.begin(), updates.all.end()};
}

void EmitOwnCopies(const ir::Function& kernel, std::span<const uint32_t> params, llvm::IRBuilder<>& builder,
                   CpuTask& hooks, llvm::Function* alone) {
  Emitter emitter(kernel, builder, hooks);
  for (uint32_t param : params) emitter.Place(param);
  emitter.Run(alone);
}

}  // namespace adc::codegen

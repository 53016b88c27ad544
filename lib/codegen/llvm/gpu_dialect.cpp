#include "codegen/llvm/gpu_dialect.h"

#include "codegen/llvm/blocks.h"

namespace adc::codegen {

using llvm::Value;

namespace {

/// Applies `read`, which knows words of 32 bits, to each word of a scalar.
template <class ReadWord>
Value* ByWords(llvm::IRBuilder<>& b, Value* value, ReadWord read) {
  llvm::Type* type = value->getType();
  llvm::Type* word = b.getInt32Ty();
  uint32_t width = type->getScalarSizeInBits();
  llvm::Type* bits_type = b.getIntNTy(width);
  Value* bits = b.CreateBitCast(value, bits_type);
  if (width <= 32) {
    Value* got = read(b.CreateZExtOrTrunc(bits, word));
    return b.CreateBitCast(b.CreateZExtOrTrunc(got, bits_type), type);
  }
  Value* low = read(b.CreateTrunc(bits, word));
  Value* high = read(b.CreateTrunc(b.CreateLShr(bits, 32), word));
  Value* joined = b.CreateOr(b.CreateZExt(low, bits_type), b.CreateShl(b.CreateZExt(high, bits_type), 32));
  return b.CreateBitCast(joined, type);
}

}  // namespace

Value* GpuDialect::FirstLane(Builder& b, Value* mask) const {
  Value* first = b.CreateIntrinsic(llvm::Intrinsic::cttz, {mask->getType()}, {mask, b.getTrue()});
  return b.CreateZExtOrTrunc(first, b.getInt32Ty());
}

Value* GpuDialect::ReadScalar(Builder& b, Value* mask, Value* value, Value* lane) const {
  return ByWords(b, value, [&](Value* word) { return Read(b, mask, word, lane); });
}

Value* GpuDialect::ReadScalarAcross(Builder& b, Value* value, uint32_t distance) const {
  return ByWords(b, value, [&](Value* word) { return ReadAcross(b, word, distance); });
}

/// One round per distinct value: the first lane that is left asks who holds the same.
///
///   rest = mask; peers = 0
///   do { same = lanes of mask whose value is that of the first lane of rest
///        peers = this lane is in same ? same : peers;  rest &= ~same } while (rest != 0)
Value* GpuDialect::Peers(Builder& b, Value* mask, Value* value) const {
  llvm::BasicBlock *before = b.GetInsertBlock(), *round = NewBlock(b, "peers"),
                   *done = NewBlock(b, "peers_end");
  Value* none = llvm::ConstantInt::get(MaskType(b), 0);
  GoOnIn(b, round);
  llvm::PHINode *rest = BeginPhi(b, mask, before), *known = BeginPhi(b, none, before);
  Value* first = FirstLane(b, rest);
  Value* asked = ByWords(b, value, [&](Value* word) { return ReadOne(b, mask, word, first); });
  Value* alike = b.CreateICmpEQ(asked, value);
  Value* same = LanesWhere(b, mask, alike);
  Value* peers = b.CreateSelect(alike, same, known);
  Value* left = b.CreateAnd(rest, b.CreateNot(same));
  rest->addIncoming(left, b.GetInsertBlock());
  known->addIncoming(peers, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpEQ(left, none), done, round);
  b.SetInsertPoint(done);
  return peers;
}

}  // namespace adc::codegen

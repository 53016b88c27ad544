#include "codegen/llvm/half.h"

#include "codegen/llvm/blocks.h"

namespace adc::codegen {
namespace {

using llvm::IRBuilder, llvm::Value;

/// f16 bits to f32 bits. A normal number moves its fields and its exponent bias; infinities and NaNs take the
/// largest exponent; a subnormal is an integer times 2^-24.
Value* WidenBits(IRBuilder<>& b, Value* half) {
  Value* bits = b.CreateZExt(half, b.getInt32Ty());
  Value* sign = b.CreateShl(b.CreateAnd(bits, 0x8000), 16);
  Value* magnitude = b.CreateAnd(bits, 0x7FFF);
  Value* shifted = b.CreateShl(magnitude, 13);
  Value* normal = b.CreateAdd(shifted, b.getInt32(0x38000000));
  Value* special = b.CreateAdd(shifted, b.getInt32(0x70000000));
  Value* tiny =
      b.CreateFMul(b.CreateUIToFP(magnitude, b.getFloatTy()), llvm::ConstantFP::get(b.getFloatTy(), 0x1p-24));
  Value* result = b.CreateSelect(b.CreateICmpUGE(magnitude, b.getInt32(0x7C00)), special, normal);
  result = b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(0x0400)),
                          b.CreateBitCast(tiny, b.getInt32Ty()), result);
  return b.CreateBitCast(b.CreateOr(result, sign), b.getFloatTy());
}

/// f32 to f16 bits, rounding to nearest even. Below the normal range, adding 0.5 moves the value to where the
/// last bit of the sum weighs 2^-24, and the addition itself rounds.
Value* NarrowBits(IRBuilder<>& b, Value* single) {
  Value* bits = b.CreateBitCast(single, b.getInt32Ty());
  Value* sign = b.CreateAnd(b.CreateLShr(bits, 16), 0x8000);
  Value* magnitude = b.CreateAnd(bits, 0x7FFFFFFF);
  Value* odd = b.CreateAnd(b.CreateLShr(magnitude, 13), 1);
  Value* rounded = b.CreateAdd(b.CreateAdd(magnitude, b.getInt32(0xC8000FFF)), odd);
  Value* normal = b.CreateLShr(rounded, 13);
  Value* sum =
      b.CreateFAdd(b.CreateBitCast(magnitude, b.getFloatTy()), llvm::ConstantFP::get(b.getFloatTy(), 0.5));
  Value* tiny = b.CreateSub(b.CreateBitCast(sum, b.getInt32Ty()), b.getInt32(0x3F000000));
  Value* large = b.CreateSelect(b.CreateICmpUGT(magnitude, b.getInt32(0x7F800000)), b.getInt32(0x7E00),
                                b.getInt32(0x7C00));
  Value* result = b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(0x38800000)), tiny, normal);
  result = b.CreateSelect(b.CreateICmpUGE(magnitude, b.getInt32(0x47800000)), large, result);
  return b.CreateTrunc(b.CreateOr(result, sign), b.getInt16Ty());
}

/// f64 to the f32 that is odd in its last bit wherever it is not exact: rounding that to f16 gives what
/// rounding the f64 gives.
Value* RoundToOdd(IRBuilder<>& b, Value* wide) {
  Value* nearest = b.CreateFPTrunc(wide, b.getFloatTy());
  Value* back = b.CreateFPExt(nearest, b.getDoubleTy());
  Value* inexact = b.CreateFCmpONE(back, wide);
  Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide);
  Value* too_far = b.CreateFCmpOGT(b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back), magnitude);
  Value* bits = b.CreateBitCast(nearest, b.getInt32Ty());
  Value* toward_zero = b.CreateSub(bits, b.CreateZExt(too_far, b.getInt32Ty()));
  Value* odd = b.CreateOr(toward_zero, b.CreateZExt(inexact, b.getInt32Ty()));
  return b.CreateBitCast(odd, b.getFloatTy());
}

}  // namespace

llvm::Type* RegisterTypeOf(IRBuilder<>& builder, const target::Target& target, ir::Scalar scalar) {
  if (scalar == ir::Scalar::F16 && target.half_conversion) return builder.getHalfTy();
  if (scalar == ir::Scalar::F32) return builder.getFloatTy();
  if (scalar == ir::Scalar::F64) return builder.getDoubleTy();
  return builder.getIntNTy(ir::BitWidth(scalar));
}

llvm::Function* HalfConversion::Helper(const char* name, llvm::Type* result, llvm::Type* operand,
                                       Value* (*body)(IRBuilder<>&, Value*)) {
  llvm::Module* module = builder_.GetInsertBlock()->getModule();
  if (llvm::Function* known = module->getFunction(name)) return known;
  llvm::Function* helper = NewFunction(*module, name, result, {operand});
  helper->setDoesNotAccessMemory();
  helper->setWillReturn();
  helper->addFnAttr(llvm::Attribute::AlwaysInline);
  IRBuilder<> inner(llvm::BasicBlock::Create(module->getContext(), "entry", helper));
  inner.CreateRet(body(inner, helper->getArg(0)));
  return helper;
}

Value* HalfConversion::ToFloat(Value* half) {
  if (native_) return builder_.CreateFPExt(half, builder_.getFloatTy());
  llvm::Function* helper = Helper("adc.widen", builder_.getFloatTy(), builder_.getInt16Ty(), WidenBits);
  return builder_.CreateCall(helper, {half});
}

Value* HalfConversion::FromFloat(Value* single) {
  if (native_) return builder_.CreateFPTrunc(single, builder_.getHalfTy());
  llvm::Function* helper = Helper("adc.narrow", builder_.getInt16Ty(), builder_.getFloatTy(), NarrowBits);
  return builder_.CreateCall(helper, {single});
}

Value* HalfConversion::FromDouble(Value* wide) {
  llvm::Function* helper =
      Helper("adc.round_to_odd", builder_.getFloatTy(), builder_.getDoubleTy(), RoundToOdd);
  return FromFloat(builder_.CreateCall(helper, {wide}));
}

}  // namespace adc::codegen

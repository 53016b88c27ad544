#include "codegen/llvm/scalars.h"

#include "codegen/llvm/gpu_dialect.h"
#include "ir/module.h"
#include "ir/op_sets.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

namespace {

llvm::FastMathFlags FlagsFor(FloatMode mode) {
  llvm::FastMathFlags flags;
  switch (mode) {
    case FloatMode::Strict:
      break;
    case FloatMode::Contract:
      flags.setAllowContract(true);
      break;
    case FloatMode::Fast:
      flags.setAllowContract(true);
      flags.setAllowReassoc(true);
      flags.setAllowReciprocal(true);
      flags.setApproxFunc(true);
      flags.setNoSignedZeros(true);
      break;
  }
  return flags;
}

}  // namespace

ScalarEmitter::ScalarEmitter(llvm::IRBuilder<>& builder, TargetHooks& hooks, FloatMode mode, uint32_t lanes)
    : builder_(builder), hooks_(hooks), half_(builder, hooks.Description().half_conversion), lanes_(lanes) {
  builder_.setFastMathFlags(FlagsFor(mode));
}

llvm::Type* ScalarEmitter::RegisterType(Scalar scalar) const {
  llvm::Type* type = RegisterTypeOf(builder_, hooks_.Description(), scalar);
  return lanes_ > 0 ? llvm::FixedVectorType::get(type, lanes_) : type;
}

llvm::Type* ScalarEmitter::MemoryType(Scalar scalar) const {
  return scalar == Scalar::I1 ? builder_.getInt8Ty() : RegisterType(scalar);
}

llvm::Constant* ScalarEmitter::Constant(Scalar scalar, uint64_t bits) const {
  llvm::Type* type = RegisterType(scalar);
  llvm::APInt number(ir::BitWidth(scalar), bits);
  if (type->isFPOrFPVectorTy())
    return llvm::ConstantFP::get(type->getContext(), llvm::APFloat(type->getFltSemantics(), number));
  return llvm::ConstantInt::get(type, number);
}

llvm::Constant* ScalarEmitter::MemoryConstant(Scalar scalar, uint64_t bits) const {
  return scalar == Scalar::I1 ? builder_.getInt8(static_cast<uint8_t>(bits & 1)) : Constant(scalar, bits);
}

Value* ScalarEmitter::ToMemory(Scalar scalar, Value* value) {
  return scalar == Scalar::I1 ? builder_.CreateZExt(value, builder_.getInt8Ty()) : value;
}

Value* ScalarEmitter::FromMemory(Scalar scalar, Value* value) {
  return scalar == Scalar::I1 ? builder_.CreateICmpNE(value, builder_.getInt8(0)) : value;
}

Value* ScalarEmitter::Emit(Op op, Scalar operand, Scalar result, llvm::ArrayRef<Value*> operands,
                           ir::Words words) {
  if (op == Op::Cast) return Convert(operand, result, operands[0]);
  if (op == Op::Bitcast) return Reinterpret(operand, result, operands[0]);
  if (op == Op::StopGradient) return operands[0];
  if (op == Op::Select) return builder_.CreateSelect(operands[0], operands[1], operands[2]);
  if (ir::IsCompare(op)) return Compare(op, operand, operands[0], operands[1]);
  if (op == Op::Clamp) {
    Value* raised = Emit(Op::Max, operand, result, {operands[0], operands[1]});
    return Emit(Op::Min, operand, result, {raised, operands[2]});
  }
  if (operand == Scalar::F16) {
    llvm::SmallVector<Value*, 3> wide;
    for (Value* v : operands) wide.push_back(half_.ToFloat(v));
    if (op == Op::Fma) {
      // The product of two f16 is exact in f32; the sum is exact in f64, so that it is rounded once.
      Value* product = builder_.CreateFPExt(builder_.CreateFMul(wide[0], wide[1]), builder_.getDoubleTy());
      return half_.FromDouble(
          builder_.CreateFAdd(product, builder_.CreateFPExt(wide[2], builder_.getDoubleTy())));
    }
    return half_.FromFloat(Emit(op, Scalar::F32, Scalar::F32, wide, words));
  }
  if (op == Op::Fma)
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {operands[0]->getType()},
                                    {operands[0], operands[1], operands[2]});
  if (operands.size() == 1) return Unary(op, operand, operands[0], words);
  ADC_CHECK(operands.size() == 2, "a scalar operation with an unknown number of operands");
  return Binary(op, operand, operands[0], operands[1], words);
}

Value* ScalarEmitter::Unary(Op op, Scalar scalar, Value* a, ir::Words words) {
  return ir::IsFloat(scalar) ? UnaryFloat(op, scalar, a, words) : UnaryInteger(op, scalar, a);
}

Value* ScalarEmitter::UnaryInteger(Op op, Scalar scalar, Value* a) {
  llvm::Type* type = a->getType();
  Value* zero = llvm::ConstantInt::get(type, 0);
  // clang-format off
  switch (ir::In<ir::IntegerUnaryInstruction>(op)) {
    using enum ir::IntegerUnaryInstruction;
    case Neg: return builder_.CreateNeg(a);
    case Not: return builder_.CreateNot(a);
    case Popcount: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a);
    case Clz: return builder_.CreateIntrinsic(llvm::Intrinsic::ctlz, {type}, {a, builder_.getFalse()});
    case Abs:
      return ir::IsSigned(scalar)
                 ? builder_.CreateIntrinsic(llvm::Intrinsic::abs, {type}, {a, builder_.getFalse()})
                 : a;
    case Sgn: {
      Value* positive = builder_.CreateZExt(
          ir::IsSigned(scalar) ? builder_.CreateICmpSGT(a, zero) : builder_.CreateICmpNE(a, zero), type);
      if (!ir::IsSigned(scalar)) return positive;
      return builder_.CreateSub(positive, builder_.CreateZExt(builder_.CreateICmpSLT(a, zero), type));
    }
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("unary operation of integers");
}

Value* ScalarEmitter::UnaryFloat(Op op, Scalar scalar, Value* a, ir::Words words) {
  Value* one = llvm::ConstantFP::get(a->getType(), 1.0);
  Value* zero = llvm::ConstantFP::get(a->getType(), 0.0);
  // clang-format off
  switch (ir::In<ir::FloatUnaryInstruction>(op)) {
    using enum ir::FloatUnaryInstruction;
    case Neg: return builder_.CreateFNeg(a);
    case Abs: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    case Floor: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
    case Ceil: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, a);
    case Trunc: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, a);
    case Round: return RoundToEven(a);
    case Sqrt: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    case Rsqrt: {
      const GpuDialect* device = hooks_.Wave();
      if (Value* known = device != nullptr ? device->ReciprocalRoot(builder_, scalar, a) : nullptr)
        return known;
      return builder_.CreateFDiv(one, builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a));
    }
    case Rcp: return builder_.CreateFDiv(one, a);
    case Sgn: {
      Value* below =
          builder_.CreateSelect(builder_.CreateFCmpOLT(a, zero), llvm::ConstantFP::get(a->getType(), -1.0), a);
      return builder_.CreateSelect(builder_.CreateFCmpOGT(a, zero), one, below);
    }
    case Other: break;
  }
  // clang-format on
  return hooks_.CallMath(op, scalar, {a}, words);
}

/// Where rounding is no instruction: adding and subtracting 2^23 (2^52) leaves the integral part, rounded by
/// the addition; larger numbers, infinities and NaNs are integral already.
Value* ScalarEmitter::RoundToEven(Value* a) {
  if (hooks_.Description().round_to_even) return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, a);
  llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  builder_.clearFastMathFlags();
  Value* limit =
      llvm::ConstantFP::get(a->getType(), a->getType()->getScalarType()->isFloatTy() ? 0x1p23 : 0x1p52);
  Value* magnitude = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
  Value* rounded = builder_.CreateFSub(builder_.CreateFAdd(magnitude, limit), limit);
  rounded = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rounded, a);
  return builder_.CreateSelect(builder_.CreateFCmpOLT(magnitude, limit), rounded, a);
}

Value* ScalarEmitter::Binary(Op op, Scalar scalar, Value* a, Value* b, ir::Words words) {
  if (ir::IsFloat(scalar)) return BinaryFloat(op, scalar, a, b, words);
  return BinaryInteger(op, scalar, a, b, words.Has(ir::Word::NoWrap));
}

Value* ScalarEmitter::BinaryInteger(Op op, Scalar scalar, Value* a, Value* b, bool no_wrap) {
  bool is_signed = ir::IsSigned(scalar);
  // clang-format off
  switch (ir::In<ir::IntegerBinaryInstruction>(op)) {
    using enum ir::IntegerBinaryInstruction;
    case Add: return builder_.CreateAdd(a, b, "", false, no_wrap);
    case Sub: return builder_.CreateSub(a, b, "", false, no_wrap);
    case Mul: return builder_.CreateMul(a, b, "", false, no_wrap);
    case And: return builder_.CreateAnd(a, b);
    case Or: return builder_.CreateOr(a, b);
    case Xor: return builder_.CreateXor(a, b);
    case Min:
      return builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case Max:
      return builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case Shl: case Shr: {
      Value* amount = builder_.CreateAnd(b, llvm::ConstantInt::get(b->getType(), ir::BitWidth(scalar) - 1));
      if (op == Op::Shl) return builder_.CreateShl(a, amount);
      return is_signed ? builder_.CreateAShr(a, amount) : builder_.CreateLShr(a, amount);
    }
    case Div: case Rem: case Mod: case FloorDiv: case CeilDiv: return Divide(op, scalar, a, b);
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("binary operation of integers");
}

/// The divisor 0 gives 0; the divisor -1 is handled as a negation, which wraps where a division would trap.
Value* ScalarEmitter::Divide(Op op, Scalar scalar, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  if (ir::BitWidth(scalar) < 32 && hooks_.Description().arch == target::Arch::Amdgcn) {
    // LLVM has no division of 8 or 16 bits there unless it optimises, and then makes this of it.
    bool is_signed = ir::IsSigned(scalar);
    Value* wide_a = builder_.CreateIntCast(a, builder_.getInt32Ty(), is_signed);
    Value* wide_b = builder_.CreateIntCast(b, builder_.getInt32Ty(), is_signed);
    return builder_.CreateTrunc(Divide(op, is_signed ? Scalar::I32 : Scalar::U32, wide_a, wide_b), type);
  }
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* is_zero = builder_.CreateICmpEQ(b, zero);
  if (!ir::IsSigned(scalar)) {
    Value* divisor = builder_.CreateSelect(is_zero, one, b);
    bool remainder = op == Op::Rem || op == Op::Mod;
    Value* result = remainder ? builder_.CreateURem(a, divisor) : builder_.CreateUDiv(a, divisor);
    if (op == Op::CeilDiv) {
      Value* rest = builder_.CreateICmpNE(builder_.CreateURem(a, divisor), zero);
      result = builder_.CreateAdd(result, builder_.CreateZExt(rest, type));
    }
    return builder_.CreateSelect(is_zero, zero, result);
  }
  Value* minus_one = llvm::ConstantInt::getSigned(type, -1);
  Value* is_minus_one = builder_.CreateICmpEQ(b, minus_one);
  Value* divisor = builder_.CreateSelect(builder_.CreateOr(is_zero, is_minus_one), one, b);
  if (op == Op::Rem || op == Op::Mod) {
    // By 1 or -1 nothing remains, and 0 asks for 0.
    Value* remainder = builder_.CreateSRem(a, divisor);
    if (op == Op::Rem) return remainder;
    Value* differ = builder_.CreateICmpSLT(builder_.CreateXor(remainder, divisor), zero);
    Value* adjust = builder_.CreateAnd(differ, builder_.CreateICmpNE(remainder, zero));
    return builder_.CreateSelect(adjust, builder_.CreateAdd(remainder, divisor), remainder);
  }
  Value* quotient = builder_.CreateSDiv(a, divisor);
  if (op == Op::FloorDiv) {
    Value* remainder = builder_.CreateSRem(a, divisor);
    Value* differ = builder_.CreateICmpSLT(builder_.CreateXor(remainder, divisor), zero);
    Value* adjust = builder_.CreateAnd(differ, builder_.CreateICmpNE(remainder, zero));
    quotient = builder_.CreateSub(quotient, builder_.CreateZExt(adjust, type));
  }
  if (op == Op::CeilDiv) {
    Value* remainder = builder_.CreateSRem(a, divisor);
    Value* alike = builder_.CreateICmpSGE(builder_.CreateXor(remainder, divisor), zero);
    Value* adjust = builder_.CreateAnd(alike, builder_.CreateICmpNE(remainder, zero));
    quotient = builder_.CreateAdd(quotient, builder_.CreateZExt(adjust, type));
  }
  Value* result = builder_.CreateSelect(is_minus_one, builder_.CreateNeg(a), quotient);
  return builder_.CreateSelect(is_zero, zero, result);
}

Value* ScalarEmitter::BinaryFloat(Op op, Scalar scalar, Value* a, Value* b, ir::Words words) {
  // clang-format off
  switch (ir::In<ir::FloatBinaryInstruction>(op)) {
    using enum ir::FloatBinaryInstruction;
    case Add: return builder_.CreateFAdd(a, b);
    case Sub: return builder_.CreateFSub(a, b);
    case Mul: return builder_.CreateFMul(a, b);
    case Div: return builder_.CreateFDiv(a, b);
    case Min: return builder_.CreateSelect(builder_.CreateFCmpOLT(a, b), a, b);
    case Max: return builder_.CreateSelect(builder_.CreateFCmpOGT(a, b), a, b);
    case FloorDiv:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
    case Mod: {
      Value* floor = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
      return builder_.CreateFSub(a, builder_.CreateFMul(b, floor));
    }
    case Rem: case Other: break;
  }
  // clang-format on
  return hooks_.CallMath(op, scalar, {a, b}, words);
}

Value* ScalarEmitter::Compare(Op op, Scalar scalar, Value* a, Value* b) {
  using Predicate = llvm::CmpInst::Predicate;
  struct Row {
    Predicate of_signed, of_unsigned, of_float;
  };
  auto row_of = [](Op compare) -> Row {
    // clang-format off
    switch (ir::In<ir::CompareOp>(compare)) {
      using enum ir::CompareOp;
      case Eq: return {Predicate::ICMP_EQ, Predicate::ICMP_EQ, Predicate::FCMP_OEQ};
      case Ne: return {Predicate::ICMP_NE, Predicate::ICMP_NE, Predicate::FCMP_UNE};
      case Lt: return {Predicate::ICMP_SLT, Predicate::ICMP_ULT, Predicate::FCMP_OLT};
      case Le: return {Predicate::ICMP_SLE, Predicate::ICMP_ULE, Predicate::FCMP_OLE};
      case Gt: return {Predicate::ICMP_SGT, Predicate::ICMP_UGT, Predicate::FCMP_OGT};
      case Ge: return {Predicate::ICMP_SGE, Predicate::ICMP_UGE, Predicate::FCMP_OGE};
    }
    // clang-format on
    ADC_UNREACHABLE("comparison");
  };
  const Row row = row_of(op);
  if (scalar == Scalar::F16) return builder_.CreateFCmp(row.of_float, half_.ToFloat(a), half_.ToFloat(b));
  if (ir::IsFloat(scalar)) return builder_.CreateFCmp(row.of_float, a, b);
  return builder_.CreateICmp(ir::IsSigned(scalar) ? row.of_signed : row.of_unsigned, a, b);
}

Value* ScalarEmitter::Convert(Scalar from, Scalar to, Value* a) {
  if (from == to) return a;
  llvm::Type* type = RegisterType(to);
  if (ir::IsFloat(from) && ir::IsFloat(to)) {
    if (from == Scalar::F16) {
      Value* single = half_.ToFloat(a);
      return to == Scalar::F32 ? single : builder_.CreateFPExt(single, type);
    }
    if (to == Scalar::F16) return from == Scalar::F32 ? half_.FromFloat(a) : half_.FromDouble(a);
    return builder_.CreateFPCast(a, type);
  }
  if (ir::IsFloat(from)) {
    Value* wide = from == Scalar::F16 ? half_.ToFloat(a) : a;
    if (to == Scalar::I1) return builder_.CreateFCmpUNE(wide, llvm::ConstantFP::get(wide->getType(), 0.0));
    llvm::Intrinsic::ID id = ir::IsSigned(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    return builder_.CreateIntrinsic(id, {type, wide->getType()}, {wide});
  }
  if (ir::IsFloat(to)) {
    llvm::Type* target = to == Scalar::F16 ? builder_.getDoubleTy() : type;
    Value* wide = ir::IsSigned(from) ? builder_.CreateSIToFP(a, target) : builder_.CreateUIToFP(a, target);
    return to == Scalar::F16 ? half_.FromDouble(wide) : wide;
  }
  if (to == Scalar::I1) return builder_.CreateICmpNE(a, llvm::ConstantInt::get(a->getType(), 0));
  return ir::IsSigned(from) ? builder_.CreateSExtOrTrunc(a, type) : builder_.CreateZExtOrTrunc(a, type);
}

Value* ScalarEmitter::Reinterpret(Scalar from, Scalar to, Value* a) {
  if (from == Scalar::I1 && to != Scalar::I1) return builder_.CreateZExt(a, RegisterType(to));
  if (to == Scalar::I1 && from != Scalar::I1)
    return builder_.CreateICmpNE(a, llvm::ConstantInt::get(a->getType(), 0));
  return builder_.CreateBitCast(a, RegisterType(to));
}

}  // namespace adc::codegen

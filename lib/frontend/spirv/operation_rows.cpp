#include "frontend/spirv/operation_rows.h"

#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <span>
#include <spirv/unified1/spirv.hpp>

namespace adc::frontend::spirv {
namespace {

using ir::Op;

constexpr Row kRows[] = {
    {spv::OpSNegate, Op::Neg},
    {spv::OpFNegate, Op::Neg},
    {spv::OpIAdd, Op::Add},
    {spv::OpFAdd, Op::Add},
    {spv::OpISub, Op::Sub},
    {spv::OpFSub, Op::Sub},
    {spv::OpIMul, Op::Mul},
    {spv::OpFMul, Op::Mul},
    {spv::OpVectorTimesScalar, Op::Mul},
    {spv::OpMatrixTimesScalar, Op::Mul},
    {spv::OpUDiv, Op::Div, Form::Unsigned},
    {spv::OpSDiv, Op::Div},
    {spv::OpFDiv, Op::Div},
    {spv::OpUMod, Op::Rem, Form::Unsigned},
    {spv::OpSRem, Op::Rem},
    {spv::OpFRem, Op::Rem},
    {spv::OpSMod, Op::Mod},
    {spv::OpFMod, Op::Mod},
    {spv::OpVectorTimesMatrix, Op::MatMul},
    {spv::OpMatrixTimesVector, Op::MatMul},
    {spv::OpMatrixTimesMatrix, Op::MatMul},
    {spv::OpOuterProduct, Op::Outer},
    {spv::OpDot, Op::Dot},
    {spv::OpTranspose, Op::Transpose},
    {spv::OpShiftLeftLogical, Op::Shl},
    {spv::OpShiftRightArithmetic, Op::Shr},
    {spv::OpShiftRightLogical, Op::Shr, Form::Unsigned},
    {spv::OpBitwiseAnd, Op::And},
    {spv::OpLogicalAnd, Op::And},
    {spv::OpBitwiseOr, Op::Or},
    {spv::OpLogicalOr, Op::Or},
    {spv::OpBitwiseXor, Op::Xor},
    {spv::OpNot, Op::Not},
    {spv::OpLogicalNot, Op::Not},
    {spv::OpBitReverse, Op::BitReverse},
    {spv::OpBitCount, Op::Popcount},
    {spv::OpIEqual, Op::Eq},
    {spv::OpFOrdEqual, Op::Eq},
    {spv::OpLogicalEqual, Op::Eq},
    {spv::OpINotEqual, Op::Ne},
    {spv::OpFUnordNotEqual, Op::Ne},
    {spv::OpLogicalNotEqual, Op::Ne},
    {spv::OpSLessThan, Op::Lt},
    {spv::OpFOrdLessThan, Op::Lt},
    {spv::OpULessThan, Op::Lt, Form::Unsigned},
    {spv::OpFUnordLessThan, Op::Ge, Form::Negated},
    {spv::OpSLessThanEqual, Op::Le},
    {spv::OpFOrdLessThanEqual, Op::Le},
    {spv::OpULessThanEqual, Op::Le, Form::Unsigned},
    {spv::OpFUnordLessThanEqual, Op::Gt, Form::Negated},
    {spv::OpSGreaterThan, Op::Gt},
    {spv::OpFOrdGreaterThan, Op::Gt},
    {spv::OpUGreaterThan, Op::Gt, Form::Unsigned},
    {spv::OpFUnordGreaterThan, Op::Le, Form::Negated},
    {spv::OpSGreaterThanEqual, Op::Ge},
    {spv::OpFOrdGreaterThanEqual, Op::Ge},
    {spv::OpUGreaterThanEqual, Op::Ge, Form::Unsigned},
    {spv::OpFUnordGreaterThanEqual, Op::Lt, Form::Negated},
    {spv::OpIsNan, Op::IsNan},
    {spv::OpIsInf, Op::IsInf},
    {spv::OpConvertFToS, Op::Cast, Form::Convert},
    {spv::OpConvertSToF, Op::Cast, Form::Convert},
    {spv::OpFConvert, Op::Cast, Form::Convert},
    {spv::OpSConvert, Op::Cast, Form::Convert},
    {spv::OpConvertUToF, Op::Cast, Form::UnsignedConvert},
    {spv::OpUConvert, Op::Cast, Form::UnsignedConvert},
};

// min(x, y) of GLSL is y where y < x, else x.
constexpr Row kExtendedRows[] = {
    {GLSLstd450Round, Op::Round},
    {GLSLstd450RoundEven, Op::Round},
    {GLSLstd450Trunc, Op::Trunc},
    {GLSLstd450FAbs, Op::Abs},
    {GLSLstd450SAbs, Op::Abs},
    {GLSLstd450FSign, Op::Sgn},
    {GLSLstd450SSign, Op::Sgn},
    {GLSLstd450Floor, Op::Floor},
    {GLSLstd450Ceil, Op::Ceil},
    {GLSLstd450Sin, Op::Sin},
    {GLSLstd450Cos, Op::Cos},
    {GLSLstd450Tan, Op::Tan},
    {GLSLstd450Asin, Op::Asin},
    {GLSLstd450Acos, Op::Acos},
    {GLSLstd450Atan, Op::Atan},
    {GLSLstd450Sinh, Op::Sinh},
    {GLSLstd450Cosh, Op::Cosh},
    {GLSLstd450Tanh, Op::Tanh},
    {GLSLstd450Asinh, Op::Asinh},
    {GLSLstd450Acosh, Op::Acosh},
    {GLSLstd450Atanh, Op::Atanh},
    {GLSLstd450Atan2, Op::Atan2},
    {GLSLstd450Pow, Op::Pow},
    {GLSLstd450Exp, Op::Exp},
    {GLSLstd450Log, Op::Log},
    {GLSLstd450Exp2, Op::Exp2},
    {GLSLstd450Log2, Op::Log2},
    {GLSLstd450Sqrt, Op::Sqrt},
    {GLSLstd450InverseSqrt, Op::Rsqrt},
    {GLSLstd450Determinant, Op::Det},
    {GLSLstd450MatrixInverse, Op::Inverse},
    {GLSLstd450FMin, Op::Min, Form::Swapped},
    {GLSLstd450FMax, Op::Max, Form::Swapped},
    {GLSLstd450FClamp, Op::Clamp},
    {GLSLstd450SMin, Op::Min, Form::Swapped},
    {GLSLstd450SMax, Op::Max, Form::Swapped},
    {GLSLstd450SClamp, Op::Clamp},
    {GLSLstd450UMin, Op::Min, Form::UnsignedSwapped},
    {GLSLstd450UMax, Op::Max, Form::UnsignedSwapped},
    {GLSLstd450UClamp, Op::Clamp, Form::Unsigned},
    {GLSLstd450Fma, Op::Fma},
    {GLSLstd450Cross, Op::Cross},
};

const Row* Find(std::span<const Row> rows, uint32_t operation) {
  auto row = std::ranges::find(rows, operation, &Row::from);
  return row == rows.end() ? nullptr : &*row;
}

}  // namespace

const Row* RowOf(uint32_t operation) {
  return Find(kRows, operation);
}

const Row* ExtendedRowOf(uint32_t instruction) {
  return Find(kExtendedRows, instruction);
}

}  // namespace adc::frontend::spirv

#include "codegen/spirv/scalars.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "ir/number.h"
#include "ir/op_sets.h"
#include "support/check.h"
#include "support/number.h"

namespace adc::codegen::spirv {

using ir::Op, ir::Scalar;

uint32_t RegisterWidth(Scalar scalar) {
  return scalar == Scalar::I1 ? 1 : ir::BitWidth(scalar) == 64 ? 64 : 32;
}

namespace {

/// Bits of a float as its register has them.
uint64_t RegisterBits(Scalar scalar, uint64_t bits) {
  if (scalar != Scalar::F16) return bits;
  return std::bit_cast<uint32_t>(FloatFromHalf(static_cast<uint16_t>(bits)));
}

}  // namespace

Id ScalarEmitter::RegisterType(Scalar scalar) {
  if (scalar == Scalar::I1) return m_.types.Bool();
  uint32_t width = RegisterWidth(scalar);
  return ir::IsFloat(scalar) ? m_.types.Float(width) : m_.types.Int(width);
}

/// Translators take no float constant that is infinite or NaN, and WGSL none whose bits are: it is read from
/// a variable.
Id ScalarEmitter::Constant(Scalar scalar, uint64_t bits) {
  if (!ir::IsFloat(scalar)) return ElementConstant(scalar, bits);
  bits = RegisterBits(scalar, bits);
  uint32_t width = RegisterWidth(scalar);
  uint64_t exponent = width == 64 ? uint64_t{0x7FF} << 52 : uint64_t{0xFF} << 23;
  if (!m_.IsForTranslators() || (bits & exponent) != exponent) return m_.constants.Float(width, bits);
  Id& known = by_bits_[{width, bits}];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  Id word = m_.types.Int(width), variable = f_.Variable(word);
  f_.Store(variable, f_.Int(width, bits), 0);
  return known = f_.Emit(spv::OpBitcast, m_.types.Float(width), {f_.Load(word, variable, 0)});
}

Id ScalarEmitter::ElementConstant(Scalar scalar, uint64_t bits) {
  if (scalar == Scalar::I1) return m_.constants.Bool((bits & 1) != 0);
  uint32_t width = RegisterWidth(scalar);
  return ir::IsFloat(scalar) ? m_.constants.Float(width, RegisterBits(scalar, bits))
                             : m_.constants.Int(width, bits);
}

Id ScalarEmitter::FloatConstant(Scalar scalar, double value) {
  return scalar == Scalar::F64 ? m_.constants.Float(64, std::bit_cast<uint64_t>(value))
                               : m_.constants.Float(32, std::bit_cast<uint32_t>(static_cast<float>(value)));
}

Id ScalarEmitter::Float(spv::Op op, Scalar scalar, std::initializer_list<Id> operands) {
  if (mode_ != FloatMode::Fast) return Exact(op, scalar, operands);
  return f_.Emit(op, RegisterType(scalar), operands);
}

Id ScalarEmitter::Exact(spv::Op op, Scalar scalar, std::initializer_list<Id> operands) {
  Id id = f_.Emit(op, RegisterType(scalar), operands);
  m_.Decorate(id, spv::DecorationNoContraction);
  return id;
}

Id ScalarEmitter::Emit(Op op, Scalar operand, Scalar result, std::span<const Id> operands) {
  if (op == Op::Cast) return Convert(operand, result, operands[0]);
  if (op == Op::Bitcast) return Reinterpret(operand, result, operands[0]);
  if (op == Op::StopGradient) return operands[0];
  if (op == Op::Select) return Choose(operand, operands[0], operands[1], operands[2]);
  if (ir::IsCompare(op)) return Compare(op, operand, operands[0], operands[1]);
  if (op == Op::Clamp) {
    Id raised = Emit(Op::Max, operand, result, {operands[0], operands[1]});
    return Emit(Op::Min, operand, result, {raised, operands[2]});
  }
  if (operand == Scalar::F16) {
    if (op == Op::Fma) {
      Id product = TimesZero(Scalar::F32, operands[0], operands[1]);
      if (product != 0) return RoundToHalf(Float(spv::OpFAdd, Scalar::F32, {product, operands[2]}));
      return HalfFma(operands[0], operands[1], operands[2]);
    }
    // An operation that gives one of its operands, its negative or an integral value needs no rounding.
    bool exact = op == Op::Neg || op == Op::Abs || op == Op::Sgn || op == Op::Floor || op == Op::Ceil ||
                 op == Op::Round || op == Op::Trunc || op == Op::Min || op == Op::Max;
    Id single = operands.size() == 1 ? UnaryFloat(op, Scalar::F32, operands[0])
                                     : BinaryFloat(op, Scalar::F32, operands[0], operands[1]);
    return exact ? single : RoundToHalf(single);
  }
  if (op == Op::Fma) {
    if (Id product = TimesZero(operand, operands[0], operands[1]))
      return Float(spv::OpFAdd, operand, {product, operands[2]});
    Id fused = f_.Glsl(GLSLstd450Fma, RegisterType(operand), {operands[0], operands[1], operands[2]});
    if (mode_ != FloatMode::Fast) m_.Decorate(fused, spv::DecorationNoContraction);
    return fused;
  }
  bool is_float = ir::IsFloat(operand);
  if (operands.size() == 1) {
    if (is_float) return UnaryFloat(op, operand, operands[0]);
    if (operand == Scalar::I1) return f_.Not(operands[0]);
    return UnaryInteger(op, operand, operands[0]);
  }
  ADC_CHECK(operands.size() == 2, "a scalar operation with an unknown number of operands");
  if (is_float) return BinaryFloat(op, operand, operands[0], operands[1]);
  if (operand == Scalar::I1) return BinaryBool(op, operands[0], operands[1]);
  return BinaryInteger(op, operand, operands[0], operands[1]);
}

Id ScalarEmitter::Normalise(Scalar scalar, Id value) {
  uint32_t bits = ir::BitWidth(scalar);
  if (bits >= 32) return value;
  if (ir::IsSigned(scalar))
    return f_.Emit(spv::OpBitFieldSExtract, m_.types.Int(32),
                   {value, m_.constants.Int(32, 0), m_.constants.Int(32, bits)});
  return f_.And(32, value, m_.constants.Int(32, (1u << bits) - 1));
}

Id ScalarEmitter::UnaryInteger(Op op, Scalar scalar, Id a) {
  Id type = RegisterType(scalar);
  uint32_t width = RegisterWidth(scalar);
  Id zero = f_.Int(width, 0), one = f_.Int(width, 1);
  // clang-format off
  switch (ir::In<ir::IntegerUnaryInstruction>(op)) {
    using enum ir::IntegerUnaryInstruction;
    case Neg: return Normalise(scalar, f_.Sub(width, zero, a));
    case Not: {
      Id flipped = f_.Emit(spv::OpNot, type, {a});
      return ir::IsSigned(scalar) ? flipped : Normalise(scalar, flipped);
    }
    case Popcount: return CountBits(scalar, a);
    case Clz: return CountLeadingZeros(scalar, a);
    case Abs: {
      if (!ir::IsSigned(scalar)) return a;
      Id negated = Normalise(scalar, f_.Sub(width, zero, a));
      return f_.Choose(type, f_.Compare(spv::OpSLessThan, a, zero), negated, a);
    }
    case Sgn: {
      if (!ir::IsSigned(scalar)) return f_.Choose(type, f_.Compare(spv::OpINotEqual, a, zero), one, zero);
      Id below = f_.Choose(type, f_.Compare(spv::OpSLessThan, a, zero), f_.Int(width, ~uint64_t{0}), zero);
      return f_.Choose(type, f_.Compare(spv::OpSGreaterThan, a, zero), one, below);
    }
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("unary operation of integers");
}

Id ScalarEmitter::CountBits(Scalar scalar, Id a) {
  Id word = m_.types.Int(32);
  uint32_t bits = ir::BitWidth(scalar);
  if (bits < 32) a = f_.And(32, a, m_.constants.Int(32, (1u << bits) - 1));
  if (bits <= 32) return f_.Emit(spv::OpBitCount, word, {a});
  Id low = f_.Resize(a, 64, 32, false);
  Id high = f_.Resize(f_.ShiftRight(64, a, f_.Int(32, 32)), 64, 32, false);
  Id low_bits = f_.Emit(spv::OpBitCount, word, {low}), high_bits = f_.Emit(spv::OpBitCount, word, {high});
  return f_.Resize(f_.Add(32, low_bits, high_bits), 32, 64, false);
}

/// FindUMsb gives -1 for 0, which makes 32 of 31 - (-1).
Id ScalarEmitter::CountLeadingZeros(Scalar scalar, Id a) {
  Id word = m_.types.Int(32);
  uint32_t bits = ir::BitWidth(scalar);
  auto highest = [&](Id value) { return f_.Glsl(GLSLstd450FindUMsb, word, {value}); };
  if (bits < 32) a = f_.And(32, a, m_.constants.Int(32, (1u << bits) - 1));
  if (bits <= 32) return f_.Sub(32, f_.Int(32, bits - 1), highest(a));
  Id low = f_.Resize(a, 64, 32, false);
  Id high = f_.Resize(f_.ShiftRight(64, a, f_.Int(32, 32)), 64, 32, false);
  Id upper = f_.Sub(32, f_.Int(32, 31), highest(high));
  Id lower = f_.Sub(32, f_.Int(32, 63), highest(low));
  Id empty = f_.Compare(spv::OpIEqual, high, f_.Int(32, 0));
  return f_.Resize(f_.Choose(word, empty, lower, upper), 32, 64, false);
}

Id ScalarEmitter::BinaryBool(Op op, Id a, Id b) {
  // clang-format off
  switch (ir::In<ir::BoolBinaryOp>(op)) {
    using enum ir::BoolBinaryOp;
    case And: return f_.Both(a, b);
    case Or: return f_.Emit(spv::OpLogicalOr, m_.types.Bool(), {a, b});
    case Xor: return f_.Emit(spv::OpLogicalNotEqual, m_.types.Bool(), {a, b});
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("binary operation of booleans");
}

Id ScalarEmitter::BinaryInteger(Op op, Scalar scalar, Id a, Id b) {
  bool is_signed = ir::IsSigned(scalar);
  uint32_t width = RegisterWidth(scalar);
  Id type = RegisterType(scalar);
  // clang-format off
  switch (ir::In<ir::IntegerBinaryInstruction>(op)) {
    using enum ir::IntegerBinaryInstruction;
    case Add: return Normalise(scalar, f_.Add(width, a, b));
    case Sub: return Normalise(scalar, f_.Sub(width, a, b));
    case Mul: return Normalise(scalar, f_.Mul(width, a, b));
    case And: return f_.And(width, a, b);
    case Or: return f_.Emit(spv::OpBitwiseOr, type, {a, b});
    case Xor: return f_.Emit(spv::OpBitwiseXor, type, {a, b});
    case Min: return f_.Glsl(is_signed ? GLSLstd450SMin : GLSLstd450UMin, type, {a, b});
    case Max: return f_.Glsl(is_signed ? GLSLstd450SMax : GLSLstd450UMax, type, {a, b});
    case Shl: case Shr: {
      Id amount = f_.And(width, b, f_.Int(width, ir::BitWidth(scalar) - 1));
      if (op == Op::Shl) return Normalise(scalar, f_.ShiftLeft(width, a, amount));
      // A register is extended after its type, so a shift to the right needs no second extension.
      return is_signed ? f_.Emit(spv::OpShiftRightArithmetic, type, {a, amount})
                       : f_.ShiftRight(width, a, amount);
    }
    case Div: case Rem: case Mod: case FloorDiv: case CeilDiv: return Divide(op, scalar, a, b);
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("binary operation of integers");
}

/// The divisor 0 gives 0; the divisor -1 is handled as a negation, which wraps where a division would trap.
Id ScalarEmitter::Divide(Op op, Scalar scalar, Id a, Id b) {
  Id type = RegisterType(scalar);
  uint32_t width = RegisterWidth(scalar);
  Id zero = f_.Int(width, 0), one = f_.Int(width, 1), minus_one = f_.Int(width, ~uint64_t{0});
  std::optional<uint64_t> known = m_.constants.IntegerOf(b);
  auto equal = [&](Id x, Id y) {
    if (known && x == b) return m_.constants.Bool(b == y);
    return f_.Compare(spv::OpIEqual, x, y);
  };
  Id is_zero = equal(b, zero);
  bool quotient = op == Op::Div || op == Op::FloorDiv || op == Op::CeilDiv;
  if (!ir::IsSigned(scalar)) {
    Id divisor = f_.Choose(type, is_zero, one, b);
    Id result = quotient ? f_.Div(width, a, divisor) : f_.Mod(width, a, divisor);
    if (op == Op::CeilDiv) {
      Id rest = f_.Compare(spv::OpINotEqual, f_.Mul(width, result, divisor), a);
      result = f_.Choose(type, rest, f_.Add(width, result, one), result);
    }
    return f_.Choose(type, is_zero, zero, result);
  }
  Id is_minus_one = equal(b, minus_one);
  Id divisor = f_.Choose(type, is_zero, one, f_.Choose(type, is_minus_one, one, b));
  // Whether the remainder by `divisor` points away from it, so that the quotient was rounded up.
  auto is_above = [&](Id remainder) {
    Id apart = f_.Compare(spv::OpSLessThan, f_.Emit(spv::OpBitwiseXor, type, {remainder, divisor}), zero);
    return f_.Both(apart, f_.Compare(spv::OpINotEqual, remainder, zero));
  };
  if (!quotient) {
    // By 1 or -1 nothing remains, and 0 asks for 0. OpSRem leaves negative operands to the device.
    Id remainder = f_.Sub(width, a, f_.Mul(width, f_.Emit(spv::OpSDiv, type, {a, divisor}), divisor));
    if (op == Op::Rem) return remainder;
    return f_.Choose(type, is_above(remainder), f_.Add(width, remainder, divisor), remainder);
  }
  Id result = f_.Emit(spv::OpSDiv, type, {a, divisor});
  if (op == Op::FloorDiv) {
    Id remainder = f_.Sub(width, a, f_.Mul(width, result, divisor));
    result = f_.Choose(type, is_above(remainder), f_.Sub(width, result, one), result);
  }
  if (op == Op::CeilDiv) {
    Id remainder = f_.Sub(width, a, f_.Mul(width, result, divisor));
    Id alike =
        f_.Compare(spv::OpSGreaterThanEqual, f_.Emit(spv::OpBitwiseXor, type, {remainder, divisor}), zero);
    Id below = f_.Both(alike, f_.Compare(spv::OpINotEqual, remainder, zero));
    result = f_.Choose(type, below, f_.Add(width, result, one), result);
  }
  if (!known || b == minus_one)
    result = f_.Choose(type, is_minus_one, Normalise(scalar, f_.Sub(width, zero, a)), result);
  return f_.Choose(type, is_zero, zero, result);
}

Id ScalarEmitter::UnaryFloat(Op op, Scalar scalar, Id a) {
  Id type = RegisterType(scalar);
  Id zero = FloatConstant(scalar, 0), one = FloatConstant(scalar, 1);
  // clang-format off
  switch (ir::In<ir::FloatUnaryInstruction>(op)) {
    using enum ir::FloatUnaryInstruction;
    case Neg: return f_.Emit(spv::OpFNegate, type, {a});
    case Abs: return f_.Glsl(GLSLstd450FAbs, type, {a});
    case Floor: return f_.Glsl(GLSLstd450Floor, type, {a});
    case Ceil: return f_.Glsl(GLSLstd450Ceil, type, {a});
    case Trunc: return scalar == Scalar::F64 ? TruncateWide(a) : f_.Glsl(GLSLstd450Trunc, type, {a});
    case Round: return scalar == Scalar::F64 ? RoundWide(a) : f_.Glsl(GLSLstd450RoundEven, type, {a});
    case Sqrt: return f_.Glsl(GLSLstd450Sqrt, type, {a});
    case Rsqrt: {
      if (scalar == Scalar::F32 && mode_ != FloatMode::Strict) return f_.Glsl(GLSLstd450InverseSqrt, type, {a});
      return Float(spv::OpFDiv, scalar, {one, f_.Glsl(GLSLstd450Sqrt, type, {a})});
    }
    case Rcp: return Float(spv::OpFDiv, scalar, {one, a});
    case Sgn: {
      Id below = f_.Choose(type, f_.Compare(spv::OpFOrdLessThan, a, zero), FloatConstant(scalar, -1), a);
      return f_.Choose(type, f_.Compare(spv::OpFOrdGreaterThan, a, zero), one, below);
    }
    case Other: break;
  }
  // clang-format on
  return Math(op, scalar, std::span<const Id>(&a, 1));
}

/// Trunc of f64 by Floor and Ceil, since Mesa's llvmpipe computes its own wrongly on processors without
/// AVX-512.
Id ScalarEmitter::TruncateWide(Id a) {
  Id type = m_.types.Float(64);
  Id below = f_.Compare(spv::OpFOrdLessThan, a, FloatConstant(Scalar::F64, 0));
  Id up = f_.Glsl(GLSLstd450Ceil, type, {a}), down = f_.Glsl(GLSLstd450Floor, type, {a});
  return f_.Choose(type, below, up, down);
}

/// RoundEven of f64, for the same reason: at 2^52 the distance between two numbers is 1, so that adding 2^52
/// to a smaller magnitude rounds it. Larger magnitudes are integers.
Id ScalarEmitter::RoundWide(Id a) {
  Id type = m_.types.Float(64), bits = m_.types.Int(64);
  Id magnitude = f_.Glsl(GLSLstd450FAbs, type, {a}), limit = FloatConstant(Scalar::F64, 0x1p52);
  Id sum = Exact(spv::OpFAdd, Scalar::F64, {magnitude, limit});
  Id rounded = f_.Emit(spv::OpBitcast, bits, {Exact(spv::OpFSub, Scalar::F64, {sum, limit})});
  Id sign = f_.And(64, f_.Emit(spv::OpBitcast, bits, {a}), m_.constants.Int(64, uint64_t{1} << 63));
  Id with_sign = f_.Emit(spv::OpBitcast, type, {f_.Emit(spv::OpBitwiseOr, bits, {rounded, sign})});
  return f_.Choose(type, f_.Compare(spv::OpFOrdLessThan, magnitude, limit), with_sign, a);
}

/// The product of a number and a constant zero from the number's bits: a zero with both signs, or NaN.
/// Drivers take such a product for +0, whatever the module says of floats (Mesa's llvmpipe does). 0: it is
/// another product.
Id ScalarEmitter::TimesZero(Scalar scalar, Id a, Id b) {
  if (mode_ == FloatMode::Fast) return 0;
  bool wide = scalar == Scalar::F64;
  uint32_t width = wide ? 64 : 32;
  uint64_t sign = uint64_t{1} << (width - 1), infinity = wide ? uint64_t{0x7FF} << 52 : uint64_t{0xFF} << 23;
  uint64_t quiet = infinity | infinity >> 1;
  auto is_zero = [&](Id id) { return (m_.constants.FloatBits(id).value_or(1) & ~sign) == 0; };
  if (is_zero(a)) std::swap(a, b);
  if (!is_zero(b)) return 0;
  Id bits_type = m_.types.Int(width), type = RegisterType(scalar);
  auto constant = [&](uint64_t value) { return m_.constants.Int(width, value); };
  Id bits = f_.Emit(spv::OpBitcast, bits_type, {a});
  Id exponent = f_.Emit(spv::OpBitwiseAnd, bits_type, {bits, constant(infinity)});
  Id zero = f_.Emit(spv::OpBitwiseAnd, bits_type, {bits, constant(sign)});
  if (*m_.constants.FloatBits(b) != 0) zero = f_.Emit(spv::OpBitwiseXor, bits_type, {zero, constant(sign)});
  Id finite = f_.Compare(spv::OpINotEqual, exponent, constant(infinity));
  Id chosen = f_.Choose(bits_type, finite, zero, constant(quiet));
  return f_.Emit(spv::OpBitcast, type, {chosen});
}

/// min and max take the second operand on a tie and where one operand is NaN.
Id ScalarEmitter::BinaryFloat(Op op, Scalar scalar, Id a, Id b) {
  Id type = RegisterType(scalar);
  // clang-format off
  switch (ir::In<ir::FloatBinaryInstruction>(op)) {
    using enum ir::FloatBinaryInstruction;
    case Add: return Float(spv::OpFAdd, scalar, {a, b});
    case Sub: return Float(spv::OpFSub, scalar, {a, b});
    case Mul: {
      Id product = TimesZero(scalar, a, b);
      return product != 0 ? product : Float(spv::OpFMul, scalar, {a, b});
    }
    case Div: return Float(spv::OpFDiv, scalar, {a, b});
    case Min: return f_.Choose(type, f_.Compare(spv::OpFOrdLessThan, a, b), a, b);
    case Max: return f_.Choose(type, f_.Compare(spv::OpFOrdGreaterThan, a, b), a, b);
    case FloorDiv: case Mod: {
      Id floor = f_.Glsl(GLSLstd450Floor, type, {Float(spv::OpFDiv, scalar, {a, b})});
      if (op == Op::FloorDiv) return floor;
      return Float(spv::OpFSub, scalar, {a, Float(spv::OpFMul, scalar, {b, floor})});
    }
    case Rem: case Other: break;
  }
  // clang-format on
  Id operands[] = {a, b};
  return Math(op, scalar, operands);
}

namespace {

/// The name of an operation in GLSL.std.450; Bad where it has no such function.
GLSLstd450 GlslFunction(Op op) {
  // clang-format off
  switch (ir::In<ir::LibraryFunction>(op)) {
    using enum ir::LibraryFunction;
    case Sin: return GLSLstd450Sin;
    case Cos: return GLSLstd450Cos;
    case Tan: return GLSLstd450Tan;
    case Asin: return GLSLstd450Asin;
    case Acos: return GLSLstd450Acos;
    case Atan: return GLSLstd450Atan;
    case Sinh: return GLSLstd450Sinh;
    case Cosh: return GLSLstd450Cosh;
    case Tanh: return GLSLstd450Tanh;
    case Exp: return GLSLstd450Exp;
    case Exp2: return GLSLstd450Exp2;
    case Log: return GLSLstd450Log;
    case Log2: return GLSLstd450Log2;
    case Pow: return GLSLstd450Pow;
    case Atan2: return GLSLstd450Atan2;
    case Erf: case Other: break;
  }
  // clang-format on
  return GLSLstd450Bad;
}

}  // namespace

Id ScalarEmitter::Math(Op op, Scalar scalar, std::span<const Id> operands) {
  Id type = RegisterType(scalar);
  if (Id function = math_.FunctionFor(op, scalar, mode_))
    return f_.Emit(spv::OpFunctionCall, type, Joined({function}, operands));
  GLSLstd450 function = GlslFunction(op);
  ADC_CHECK(function != GLSLstd450Bad && scalar == Scalar::F32, "a function that nothing computes");
  return operands.size() == 1 ? f_.Glsl(function, type, {operands[0]})
                              : f_.Glsl(function, type, {operands[0], operands[1]});
}

Id ScalarEmitter::Compare(Op op, Scalar scalar, Id a, Id b) {
  struct Row {
    spv::Op of_signed, of_unsigned, of_float;
  };
  auto row_of = [](Op compare) -> Row {
    // clang-format off
    switch (ir::In<ir::CompareOp>(compare)) {
      using enum ir::CompareOp;
      case Eq: return {spv::OpIEqual, spv::OpIEqual, spv::OpFOrdEqual};
      case Ne: return {spv::OpINotEqual, spv::OpINotEqual, spv::OpFUnordNotEqual};
      case Lt: return {spv::OpSLessThan, spv::OpULessThan, spv::OpFOrdLessThan};
      case Le: return {spv::OpSLessThanEqual, spv::OpULessThanEqual, spv::OpFOrdLessThanEqual};
      case Gt: return {spv::OpSGreaterThan, spv::OpUGreaterThan, spv::OpFOrdGreaterThan};
      case Ge: return {spv::OpSGreaterThanEqual, spv::OpUGreaterThanEqual, spv::OpFOrdGreaterThanEqual};
    }
    // clang-format on
    ADC_UNREACHABLE("comparison");
  };
  if (scalar == Scalar::I1)
    return f_.Compare(op == Op::Eq ? spv::OpLogicalEqual : spv::OpLogicalNotEqual, a, b);
  const Row row = row_of(op);
  return f_.Compare(ir::IsFloat(scalar)    ? row.of_float
                    : ir::IsSigned(scalar) ? row.of_signed
                                           : row.of_unsigned,
                    a, b);
}

Id ScalarEmitter::Convert(Scalar from, Scalar to, Id a) {
  if (from == to) return a;
  uint32_t width = RegisterWidth(to), from_width = RegisterWidth(from);
  if (from == Scalar::I1) {
    uint64_t one = to == Scalar::F16 ? ir::FloatToBits(Scalar::F16, 1)
                   : ir::IsFloat(to) ? ir::FloatToBits(to, 1)
                                     : 1;
    return Choose(to, a, Constant(to, one), Constant(to, 0));
  }
  if (to == Scalar::I1) {
    if (ir::IsFloat(from)) return f_.Compare(spv::OpFUnordNotEqual, a, FloatConstant(from, 0));
    return f_.Compare(spv::OpINotEqual, a, f_.Int(from_width, 0));
  }
  if (ir::IsFloat(from) && ir::IsFloat(to)) {
    if (to == Scalar::F16) return RoundToHalf(from == Scalar::F64 ? RoundToOdd(a) : a);
    return width == from_width ? a : f_.Emit(spv::OpFConvert, RegisterType(to), {a});
  }
  if (ir::IsFloat(from)) return FloatToInteger(from, to, a);
  if (ir::IsFloat(to)) {
    // An integer that an f32 cannot hold exactly is beyond every f16, so rounding twice does no harm.
    Id number = f_.Emit(ir::IsSigned(from) ? spv::OpConvertSToF : spv::OpConvertUToF, RegisterType(to), {a});
    return to == Scalar::F16 ? RoundToHalf(number) : number;
  }
  Id resized = f_.Resize(a, from_width, width, ir::IsSigned(from));
  bool holds = ir::BitWidth(to) > ir::BitWidth(from) && (ir::IsSigned(to) || ir::IsUnsigned(from));
  return holds ? resized : Normalise(to, resized);
}

Id ScalarEmitter::FloatToInteger(Scalar from, Scalar to, Id a) {
  bool is_signed = ir::IsSigned(to);
  uint32_t bits = ir::BitWidth(to), digits = is_signed ? bits - 1 : bits;
  // 2^digits is the first number above the range, and is exact in every float format.
  Id above = FloatConstant(from, std::ldexp(1.0, static_cast<int>(digits)));
  Id below = FloatConstant(from, is_signed ? -std::ldexp(1.0, static_cast<int>(digits)) : 0.0);
  uint64_t highest = digits == 64 ? ~uint64_t{0} : (uint64_t{1} << digits) - 1;
  uint64_t lowest = is_signed ? ~highest : 0;
  Id is_above = f_.Compare(spv::OpFOrdGreaterThanEqual, a, above);
  Id is_below = f_.Compare(spv::OpFOrdLessThanEqual, a, below);
  Id fits =
      f_.Emit(spv::OpLogicalAnd, m_.types.Bool(),
              {f_.Compare(spv::OpFOrdLessThan, a, above), f_.Compare(spv::OpFOrdGreaterThan, a, below)});
  Id safe = Choose(from, fits, a, FloatConstant(from, 0));
  Id number = f_.Emit(is_signed ? spv::OpConvertFToS : spv::OpConvertFToU, RegisterType(to), {safe});
  Id raised = Choose(to, is_below, Constant(to, lowest), number);
  return Choose(to, is_above, Constant(to, highest), raised);
}

Id ScalarEmitter::ToBits(Scalar scalar, Id value) {
  if (scalar == Scalar::I1) return f_.Choose(m_.types.Int(32), value, f_.Int(32, 1), f_.Int(32, 0));
  if (!ir::IsFloat(scalar)) return value;
  if (scalar != Scalar::F16) return f_.Emit(spv::OpBitcast, m_.types.Int(RegisterWidth(scalar)), {value});
  Id pair = f_.Emit(spv::OpCompositeConstruct, m_.types.Vector(m_.types.Float(32), 2),
                    {value, FloatConstant(Scalar::F32, 0)});
  return f_.Glsl(GLSLstd450PackHalf2x16, m_.types.Int(32), {pair});
}

Id ScalarEmitter::FromBits(Scalar scalar, Id bits) {
  if (scalar == Scalar::I1) return f_.Compare(spv::OpINotEqual, bits, f_.Int(32, 0));
  if (!ir::IsFloat(scalar)) return Normalise(scalar, bits);
  if (scalar != Scalar::F16) return f_.Emit(spv::OpBitcast, RegisterType(scalar), {bits});
  Id pair = f_.Glsl(GLSLstd450UnpackHalf2x16, m_.types.Vector(m_.types.Float(32), 2), {bits});
  return f_.Emit(spv::OpCompositeExtract, m_.types.Float(32), {pair, 0});
}

Id ScalarEmitter::Reinterpret(Scalar from, Scalar to, Id a) {
  return from == to ? a : FromBits(to, ToBits(from, a));
}

/// In integer arithmetic, since the rounding of a conversion is the device's choice. Up to 2^-14 the sum with
/// 0.5 leaves multiples of 2^-24, which are the subnormal numbers; above, half of the bits that are cut off
/// is added, less one bit where the rest is even; from 65520 on it is infinite.
Id ScalarEmitter::RoundToHalf(Id single) {
  Id word = m_.types.Int(32), number = m_.types.Float(32);
  Id bits = f_.Emit(spv::OpBitcast, word, {single});
  Id sign = f_.And(32, bits, f_.Int(32, 0x80000000u));
  Id magnitude = f_.And(32, bits, f_.Int(32, 0x7FFFFFFFu));
  Id half = FloatConstant(Scalar::F32, 0.5);
  Id small = Exact(spv::OpFAdd, Scalar::F32, {f_.Emit(spv::OpBitcast, number, {magnitude}), half});
  small = f_.Emit(spv::OpBitcast, word, {Exact(spv::OpFSub, Scalar::F32, {small, half})});
  Id odd = f_.And(32, f_.ShiftRight(32, magnitude, f_.Int(32, 13)), f_.Int(32, 1));
  Id normal = f_.Add(32, f_.Add(32, magnitude, f_.Int(32, 0xFFF)), odd);
  normal = f_.And(32, normal, f_.Int(32, ~uint64_t{0x1FFF}));
  Id is_small = f_.Compare(spv::OpULessThan, magnitude, f_.Int(32, 0x38800000u));
  Id rounded = f_.Choose(word, is_small, small, normal);
  Id is_large = f_.Compare(spv::OpUGreaterThanEqual, magnitude, f_.Int(32, 0x477FF000u));
  rounded = f_.Choose(word, is_large, f_.Int(32, 0x7F800000u), rounded);
  Id is_nan = f_.Compare(spv::OpUGreaterThan, magnitude, f_.Int(32, 0x7F800000u));
  rounded = f_.Choose(word, is_nan, f_.Int(32, 0x7FC00000u), rounded);
  return f_.Emit(spv::OpBitcast, number, {f_.Emit(spv::OpBitwiseOr, word, {rounded, sign})});
}

/// The f32 below in magnitude, with its last bit set, wherever something was cut off.
Id ScalarEmitter::RoundToOdd(Id wide) {
  Id word = m_.types.Int(32), number = m_.types.Float(32), type = m_.types.Float(64);
  Id nearest = f_.Emit(spv::OpFConvert, number, {wide});
  Id back = f_.Emit(spv::OpFConvert, type, {nearest});
  Id bits = f_.Emit(spv::OpBitcast, word, {nearest});
  Id size = f_.Glsl(GLSLstd450FAbs, type, {back}), exact = f_.Glsl(GLSLstd450FAbs, type, {wide});
  Id further = f_.Compare(spv::OpFOrdGreaterThan, size, exact);
  Id below = f_.Choose(word, further, f_.Sub(32, bits, f_.Int(32, 1)), bits);
  Id odd = f_.Emit(spv::OpBitwiseOr, word, {below, f_.Int(32, 1)});
  Id differs = f_.Compare(spv::OpFOrdNotEqual, back, wide);
  return f_.Emit(spv::OpBitcast, number, {f_.Choose(word, differs, odd, bits)});
}

/// The product of two f16 is exact in f32. The sum is rounded to odd, after the part that it lost, so that
/// rounding it to f16 is the only rounding.
Id ScalarEmitter::HalfFma(Id a, Id b, Id c) {
  constexpr Scalar kSingle = Scalar::F32;
  Id word = m_.types.Int(32), zero = FloatConstant(kSingle, 0);
  Id product = Exact(spv::OpFMul, kSingle, {a, b});
  Id sum = Exact(spv::OpFAdd, kSingle, {product, c});
  Id share = Exact(spv::OpFSub, kSingle, {sum, product});
  Id lost = Exact(spv::OpFAdd, kSingle,
                  {Exact(spv::OpFSub, kSingle, {product, Exact(spv::OpFSub, kSingle, {sum, share})}),
                   Exact(spv::OpFSub, kSingle, {c, share})});
  Id bits = f_.Emit(spv::OpBitcast, word, {sum});
  Id is_even = f_.Compare(spv::OpIEqual, f_.And(32, bits, f_.Int(32, 1)), f_.Int(32, 0));
  Id positive = f_.Compare(spv::OpFOrdGreaterThan, lost, zero);
  Id negative = f_.Compare(spv::OpFOrdLessThan, lost, zero);
  Id above = f_.Compare(spv::OpFOrdGreaterThan, sum, zero);
  Id outward = f_.Emit(spv::OpLogicalEqual, m_.types.Bool(), {positive, above});
  Id step = f_.Choose(word, outward, f_.Int(32, 1), f_.Int(32, ~uint64_t{0}));
  Id some = f_.Emit(spv::OpLogicalOr, m_.types.Bool(), {positive, negative});
  Id moves = f_.Both(some, is_even);
  Id odd = f_.Choose(word, moves, f_.Add(32, bits, step), bits);
  return RoundToHalf(f_.Emit(spv::OpBitcast, m_.types.Float(32), {odd}));
}

}  // namespace adc::codegen::spirv

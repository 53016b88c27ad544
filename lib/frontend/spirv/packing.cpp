// Numbers that are packed into words, bits that are read as other numbers, exponents.

#include <spirv/unified1/GLSL.std.450.h>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

namespace {

using ir::Op;

/// Integers of the width of `type`, in its shape.
ir::Type IntegersLike(ir::Type type, bool has_sign) {
  switch (ir::BitWidth(type.scalar)) {
    case 8:
      return type.WithScalar(has_sign ? ir::Scalar::I8 : ir::Scalar::U8);
    case 16:
      return type.WithScalar(has_sign ? ir::Scalar::I16 : ir::Scalar::U16);
    case 32:
      return type.WithScalar(has_sign ? ir::Scalar::I32 : ir::Scalar::U32);
    default:
      return type.WithScalar(has_sign ? ir::Scalar::I64 : ir::Scalar::U64);
  }
}

/// How a float has its exponent: bits of the fraction below it, and what is added to it.
struct Format {
  int fraction, bias;
};

Format FormatOf(ir::Scalar scalar) {
  if (scalar == ir::Scalar::F16) return {10, 15};
  return scalar == ir::Scalar::F32 ? Format{23, 127} : Format{52, 1023};
}

/// The greatest number that a component of so many bits holds.
double Most(uint32_t width, bool has_sign) {
  return static_cast<double>((1U << (width - (has_sign ? 1 : 0))) - 1);
}

}  // namespace

/// The bits of `value` as `to`, which may have another number of components: the first one is the lowest.
ir::Value Lowering::BitsAs(ir::Value value, ir::Type to, const Instruction& inst) {
  ir::Type from = kernel_->TypeOf(value);
  uint32_t from_bits = ir::BitWidth(from.scalar), to_bits = ir::BitWidth(to.scalar);
  Require(from.Components() * from_bits == to.Components() * to_bits, inst,
          "bits are read as more or fewer bits");
  if (from_bits == to_bits) return b_->Bitcast(value, to);
  ir::Type few = IntegersLike(from.ScalarType(), false), many = IntegersLike(to.ScalarType(), false);
  std::vector<ir::Value> parts;
  for (uint32_t n = 0; n < to.Components(); ++n) {
    ir::Value bits;
    if (from_bits > to_bits) {
      uint32_t each = from_bits / to_bits;
      ir::Value word = b_->Bitcast(ComponentOf(value, n / each), few);
      bits = b_->Cast(b_->Make(Op::Shr, {word, b_->Int(few, n % each * to_bits)}), many);
    } else {
      uint32_t each = to_bits / from_bits;
      for (uint32_t m = 0; m < each; ++m) {
        ir::Value word = b_->Cast(b_->Bitcast(ComponentOf(value, n * each + m), few), many);
        if (m > 0) word = b_->Make(Op::Shl, {word, b_->Int(many, m * from_bits)});
        bits = m == 0 ? word : b_->Make(Op::Or, {bits, word});
      }
    }
    parts.push_back(b_->Bitcast(bits, to.ScalarType()));
  }
  return MakeVector(parts);
}

/// Components from 0 or -1 to 1 as integers of `width` bits, in a word.
ir::Value Lowering::Pack(ir::Value vector, uint32_t width, bool has_sign) {
  ir::Value least = FloatLike(vector, has_sign ? -1 : 0);
  ir::Value within = b_->Make(Op::Clamp, {vector, least, FloatLike(vector, 1)});
  ir::Value scaled = b_->Make(Op::Mul, {within, FloatLike(vector, Most(width, has_sign))});
  ir::Value rounded =
      b_->Cast(b_->Make(Op::Round, {scaled}), kernel_->TypeOf(vector).WithScalar(ir::Scalar::I32));
  ir::Value word;
  for (uint32_t n = 0; n < 32 / width; ++n) {
    ir::Value bits = b_->Make(Op::And, {ComponentOf(rounded, n), b_->I32((1 << width) - 1)});
    if (n > 0) bits = b_->Make(Op::Shl, {bits, b_->I32(static_cast<int32_t>(n * width))});
    word = n == 0 ? bits : b_->Make(Op::Or, {word, bits});
  }
  return word;
}

ir::Value Lowering::Unpack(ir::Value word, uint32_t width, bool has_sign) {
  ir::Value bits = has_sign ? word : Unsigned(word);
  ir::Type type = kernel_->TypeOf(bits);
  std::vector<ir::Value> parts;
  for (uint32_t n = 0; n < 32 / width; ++n) {
    // To the top, and down again with the sign.
    ir::Value top = b_->Make(Op::Shl, {bits, b_->Int(type, 32 - width * (n + 1))});
    parts.push_back(b_->Cast(b_->Make(Op::Shr, {top, b_->Int(type, 32 - width)}), ir::kF32));
  }
  ir::Value vector = MakeVector(parts);
  vector = b_->Make(Op::Div, {vector, FloatLike(vector, Most(width, has_sign))});
  return has_sign ? b_->Make(Op::Max, {vector, FloatLike(vector, -1)}) : vector;
}

/// `value` times 2 to the power of an integer, in two factors: one alone is no float where the result still
/// is one.
ir::Value Lowering::TimesPowerOf2(ir::Value value, ir::Value exponent) {
  ir::Type type = kernel_->TypeOf(value), words = IntegersLike(type, true);
  auto [fraction, bias] = FormatOf(type.scalar);
  auto constant = [&](int64_t number) { return Splat(b_->Int(words.ScalarType(), number), words); };
  exponent = b_->Make(Op::Clamp, {b_->Cast(exponent, kernel_->TypeOf(exponent).WithScalar(words.scalar)),
                                  constant(-2 * (bias - 1)), constant(2 * bias)});
  ir::Value half = b_->Make(Op::Shr, {exponent, constant(1)});
  for (ir::Value part : {half, b_->Make(Op::Sub, {exponent, half})}) {
    ir::Value bits = b_->Make(Op::Shl, {b_->Make(Op::Add, {part, constant(bias)}), constant(fraction)});
    value = b_->Make(Op::Mul, {value, b_->Bitcast(bits, type)});
  }
  return value;
}

/// The exponent that leaves a factor from 0.5 on, below 1; 0 for 0. As integers of the width of `value`.
ir::Value Lowering::ExponentOf(ir::Value value) {
  ir::Type type = kernel_->TypeOf(value), words = IntegersLike(type, true);
  auto [fraction, bias] = FormatOf(type.scalar);
  auto constant = [&](int64_t number) { return Splat(b_->Int(words.ScalarType(), number), words); };
  // A float that is too small for an exponent gets one.
  ir::Value raised = TimesPowerOf2(value, constant(fraction + 1));
  ir::Value least = TimesPowerOf2(FloatLike(value, 1), constant(1 - bias));
  ir::Value small = b_->Make(Op::Lt, {b_->Make(Op::Abs, {value}), least});
  ir::Value bits = b_->Bitcast(b_->Make(Op::Select, {small, raised, value}), words);
  ir::Value found =
      b_->Make(Op::And, {b_->Make(Op::Shr, {bits, constant(fraction)}), constant(2 * bias + 1)});
  ir::Value added = b_->Make(Op::Select, {small, constant(bias + fraction), constant(bias - 1)});
  ir::Value none = b_->Make(Op::Eq, {found, constant(0)});
  return b_->Make(Op::Select, {none, constant(0), b_->Make(Op::Sub, {found, added})});
}

/// An instruction of GLSL.std.450 that packs, unpacks or takes floats apart.
bool Lowering::Packing(const Instruction& inst) {
  auto x = [&](size_t n) { return GetOne(inst.At(2 + n)); };
  auto set_to = [&](ir::Value value) {
    SetOne(inst, value);
    return true;
  };
  auto type = [&] { return types_.Register(inst.type); };
  switch (inst.At(1)) {
    case GLSLstd450PackSnorm4x8:
      return set_to(Pack(x(0), 8, true));
    case GLSLstd450PackUnorm4x8:
      return set_to(Pack(x(0), 8, false));
    case GLSLstd450PackSnorm2x16:
      return set_to(Pack(x(0), 16, true));
    case GLSLstd450PackUnorm2x16:
      return set_to(Pack(x(0), 16, false));
    case GLSLstd450UnpackSnorm4x8:
      return set_to(Unpack(x(0), 8, true));
    case GLSLstd450UnpackUnorm4x8:
      return set_to(Unpack(x(0), 8, false));
    case GLSLstd450UnpackSnorm2x16:
      return set_to(Unpack(x(0), 16, true));
    case GLSLstd450UnpackUnorm2x16:
      return set_to(Unpack(x(0), 16, false));
    case GLSLstd450PackHalf2x16:
      return set_to(BitsAs(b_->Cast(x(0), ir::Type::Vec(ir::Scalar::F16, 2)), type(), inst));
    case GLSLstd450UnpackHalf2x16:
      return set_to(b_->Cast(BitsAs(x(0), ir::Type::Vec(ir::Scalar::F16, 2), inst), type()));
    case GLSLstd450PackDouble2x32:
    case GLSLstd450UnpackDouble2x32:
      return set_to(BitsAs(x(0), type(), inst));
    case GLSLstd450Ldexp:
      return set_to(TimesPowerOf2(x(0), x(1)));
    case GLSLstd450Frexp: {
      Pointer whole = GetPointer(inst.At(3), inst);
      ir::Value value = x(0), exponent = ExponentOf(value);
      Store(whole, {{b_->Cast(exponent, types_.Register(whole.pointee))}}, inst);
      return set_to(TimesPowerOf2(value, b_->Make(Op::Neg, {exponent})));
    }
    case GLSLstd450FrexpStruct: {
      ir::Value value = x(0), exponent = ExponentOf(value);
      ir::Value factor = TimesPowerOf2(value, b_->Make(Op::Neg, {exponent}));
      Set(inst, {{factor, b_->Cast(exponent, types_.Register(types_.Member(inst.type, 1)))}});
      return true;
    }
    default:
      return false;
  }
}

}  // namespace adc::frontend::spirv

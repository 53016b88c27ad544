// Numbers that are packed into words, bits that are read as other numbers, exponents.

#include "diag/errors/shader.h"
#include "frontend/spirv/bits.h"
#include "frontend/spirv/types.h"

namespace adc::frontend::spirv {

using ir::Op;

namespace {

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

ir::Value BitsAs(KernelBuilder& b, ir::Value value, ir::Type to, diag::SourceSpan place) {
  ir::Type from = b.TypeOf(value);
  uint32_t from_bits = ir::BitWidth(from.scalar), to_bits = ir::BitWidth(to.scalar);
  if (from.Components() * from_bits != to.Components() * to_bits)
    Refuse(diag::E0852, place, "bits are read as more or fewer bits");
  if (from_bits == to_bits) return b.Bitcast(value, to);
  ir::Type few = IntegersLike(from.ScalarType(), false), many = IntegersLike(to.ScalarType(), false);
  std::vector<ir::Value> parts;
  for (uint32_t n = 0; n < to.Components(); ++n) {
    ir::Value bits;
    if (from_bits > to_bits) {
      uint32_t each = from_bits / to_bits;
      ir::Value word = b.Bitcast(b.ComponentOf(value, n / each), few);
      bits = b.Cast(b.Make(Op::Shr, {word, b.Int(few, n % each * to_bits)}), many);
    } else {
      uint32_t each = to_bits / from_bits;
      for (uint32_t m = 0; m < each; ++m) {
        ir::Value word = b.Cast(b.Bitcast(b.ComponentOf(value, n * each + m), few), many);
        if (m > 0) word = b.Make(Op::Shl, {word, b.Int(many, m * from_bits)});
        bits = m == 0 ? word : b.Make(Op::Or, {bits, word});
      }
    }
    parts.push_back(b.Bitcast(bits, to.ScalarType()));
  }
  return b.MakeVector(parts);
}

ir::Value ToNormalised(KernelBuilder& b, ir::Value value, uint32_t width, bool has_sign) {
  ir::Value least = b.FloatLike(value, has_sign ? -1 : 0);
  ir::Value within = b.Make(Op::Clamp, {value, least, b.FloatLike(value, 1)});
  return b.Make(Op::Round, {b.Scaled(within, Most(width, has_sign))});
}

ir::Value FromNormalised(KernelBuilder& b, ir::Value value, uint32_t width, bool has_sign) {
  value = b.Make(Op::Div, {value, b.FloatLike(value, Most(width, has_sign))});
  return has_sign ? b.Make(Op::Max, {value, b.FloatLike(value, -1)}) : value;
}

ir::Value Pack(KernelBuilder& b, ir::Value vector, uint32_t width, bool has_sign) {
  ir::Value rounded = ToNormalised(b, vector, width, has_sign);
  rounded = b.Cast(rounded, b.TypeOf(vector).WithScalar(ir::Scalar::I32));
  ir::Value word;
  for (uint32_t n = 0; n < 32 / width; ++n) {
    ir::Value bits = b.Make(Op::And, {b.ComponentOf(rounded, n), b.I32((1 << width) - 1)});
    if (n > 0) bits = b.Make(Op::Shl, {bits, b.I32(n * width)});
    word = n == 0 ? bits : b.Make(Op::Or, {word, bits});
  }
  return word;
}

ir::Value Unpack(KernelBuilder& b, ir::Value word, uint32_t width, bool has_sign) {
  ir::Value bits = has_sign ? word : b.Unsigned(word);
  ir::Type type = b.TypeOf(bits);
  ir::Value numbers = b.VectorOf(32 / width, [&](uint32_t n) {
    // To the top, and down again with the sign.
    ir::Value top = b.Make(Op::Shl, {bits, b.Int(type, 32 - width * (n + 1))});
    return b.Cast(b.Make(Op::Shr, {top, b.Int(type, 32 - width)}), ir::kF32);
  });
  return FromNormalised(b, numbers, width, has_sign);
}

// In two factors: one alone is no float where the result still is one.
ir::Value TimesPowerOf2(KernelBuilder& b, ir::Value value, ir::Value exponent) {
  ir::Type type = b.TypeOf(value), words = IntegersLike(type, true);
  auto [fraction, bias] = FormatOf(type.scalar);
  auto constant = [&](int64_t number) { return b.IntLike(words, number); };
  exponent = b.Make(Op::Clamp, {b.Cast(exponent, b.TypeOf(exponent).WithScalar(words.scalar)),
                                constant(-2 * (bias - 1)), constant(2 * bias)});
  ir::Value half = b.Make(Op::Shr, {exponent, constant(1)});
  for (ir::Value part : {half, b.Make(Op::Sub, {exponent, half})}) {
    ir::Value bits = b.Make(Op::Shl, {b.Make(Op::Add, {part, constant(bias)}), constant(fraction)});
    value = b.Make(Op::Mul, {value, b.Bitcast(bits, type)});
  }
  return value;
}

ir::Value ExponentOf(KernelBuilder& b, ir::Value value) {
  ir::Type type = b.TypeOf(value), words = IntegersLike(type, true);
  auto [fraction, bias] = FormatOf(type.scalar);
  auto constant = [&](int64_t number) { return b.IntLike(words, number); };
  // A float that is too small for an exponent gets one.
  ir::Value raised = TimesPowerOf2(b, value, constant(fraction + 1));
  ir::Value least = TimesPowerOf2(b, b.FloatLike(value, 1), constant(1 - bias));
  ir::Value small = b.Make(Op::Lt, {b.Make(Op::Abs, {value}), least});
  ir::Value bits = b.Bitcast(b.Make(Op::Select, {small, raised, value}), words);
  ir::Value found = b.Make(Op::And, {b.Make(Op::Shr, {bits, constant(fraction)}), constant(2 * bias + 1)});
  ir::Value added = b.Make(Op::Select, {small, constant(bias + fraction), constant(bias - 1)});
  ir::Value none = b.Make(Op::Eq, {found, constant(0)});
  return b.Make(Op::Select, {none, constant(0), b.Make(Op::Sub, {found, added})});
}

}  // namespace adc::frontend::spirv

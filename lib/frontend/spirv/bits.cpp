// Fields of integers.

#include "frontend/spirv/bits.h"

namespace adc::frontend::spirv {

using ir::Op;

// (a << (w - offset - count)) >> (w - count); a count of 0 gives 0.
ir::Value BitField(KernelBuilder& b, ir::Value base, ir::Value offset, ir::Value count, bool has_sign) {
  ir::Type t = b.TypeOf(base);
  ir::Value width = b.IntLike(t, ir::BitWidth(t.scalar)), zero = b.IntLike(t, 0);
  offset = b.Splat(b.Cast(offset, t.ScalarType()), t);
  count = b.Splat(b.Cast(count, t.ScalarType()), t);
  ir::Value right = b.Make(Op::Sub, {width, count});
  ir::Value left = b.Make(Op::Sub, {right, offset});
  ir::Value high = b.Make(Op::Shl, {base, left});
  ir::Value low = has_sign ? b.Make(Op::Shr, {high, right})
                           : b.Cast(b.Make(Op::Shr, {b.Unsigned(high), b.Unsigned(right)}), t);
  return b.Make(Op::Select, {b.Make(Op::Eq, {count, zero}), zero, low});
}

ir::Value WithBitField(KernelBuilder& b, ir::Value base, ir::Value what, ir::Value offset, ir::Value count) {
  ir::Type t = b.TypeOf(base);
  ir::Value one = b.IntLike(t, 1), width = b.IntLike(t, ir::BitWidth(t.scalar));
  offset = b.Splat(b.Cast(offset, t.ScalarType()), t);
  count = b.Splat(b.Cast(count, t.ScalarType()), t);
  ir::Value some = b.Make(Op::Sub, {b.Make(Op::Shl, {one, count}), one});
  ir::Value ones = b.Make(Op::Select, {b.Make(Op::Eq, {count, width}), b.IntLike(t, -1), some});
  ir::Value mask = b.Make(Op::Shl, {ones, offset});
  ir::Value other_bits = b.Make(Op::And, {base, b.Make(Op::Not, {mask})});
  return b.Make(Op::Or, {other_bits, b.Make(Op::And, {b.Make(Op::Shl, {what, offset}), mask})});
}

ir::Value HighestBit(KernelBuilder& b, ir::Value v) {
  ir::Type t = b.TypeOf(v);
  ir::Value most = b.IntLike(t, ir::BitWidth(t.scalar) - 1);
  return b.Make(Op::Sub, {most, b.Make(Op::Clz, {v})});
}

ir::Value HighestBitOfSigned(KernelBuilder& b, ir::Value v) {
  ir::Type t = b.TypeOf(v);
  ir::Value negative = b.Make(Op::Lt, {v, b.IntLike(t, 0)});
  return HighestBit(b, b.Make(Op::Select, {negative, b.Make(Op::Not, {v}), v}));
}

ir::Value LowestBit(KernelBuilder& b, ir::Value v) {
  ir::Type t = b.TypeOf(v);
  ir::Value none = b.Make(Op::Eq, {v, b.IntLike(t, 0)});
  return b.Make(Op::Select, {none, b.IntLike(t, -1), b.Make(Op::Ctz, {v})});
}

}  // namespace adc::frontend::spirv

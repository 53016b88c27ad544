// Integers as bits.

#include "frontend/spirv/lowering.h"

namespace adc::frontend::spirv {

using ir::Op;

// (a << (w - offset - count)) >> (w - count); a count of 0 gives 0.
ir::Value Lowering::BitField(const Instruction& inst) {
  ir::Value base = GetOne(inst.At(0));
  ir::Type t = kernel_->TypeOf(base);
  ir::Value width = Splat(b_->Int(t.ScalarType(), ir::BitWidth(t.scalar)), t),
            zero = Splat(b_->Zero(t.ScalarType()), t);
  ir::Value offset = Splat(b_->Cast(GetOne(inst.At(1)), t.ScalarType()), t),
            count = Splat(b_->Cast(GetOne(inst.At(2)), t.ScalarType()), t);
  ir::Value right = b_->Make(Op::Sub, {width, count});
  ir::Value left = b_->Make(Op::Sub, {right, offset});
  ir::Value high = b_->Make(Op::Shl, {base, left});
  ir::Value low = inst.op == spv::OpBitFieldSExtract
                      ? b_->Make(Op::Shr, {high, right})
                      : b_->Cast(b_->Make(Op::Shr, {Unsigned(high), Unsigned(right)}), t);
  return b_->Make(Op::Select, {b_->Make(Op::Eq, {count, zero}), zero, low});
}

ir::Value Lowering::WithBitField(const Instruction& inst) {
  ir::Value base = GetOne(inst.At(0)), what = GetOne(inst.At(1));
  ir::Type t = kernel_->TypeOf(base);
  ir::Value one = Splat(b_->Int(t.ScalarType(), 1), t),
            width = Splat(b_->Int(t.ScalarType(), ir::BitWidth(t.scalar)), t);
  ir::Value offset = Splat(b_->Cast(GetOne(inst.At(2)), t.ScalarType()), t),
            count = Splat(b_->Cast(GetOne(inst.At(3)), t.ScalarType()), t);
  ir::Value some = b_->Make(Op::Sub, {b_->Make(Op::Shl, {one, count}), one});
  ir::Value ones =
      b_->Make(Op::Select, {b_->Make(Op::Eq, {count, width}), Splat(b_->Int(t.ScalarType(), -1), t), some});
  ir::Value mask = b_->Make(Op::Shl, {ones, offset});
  ir::Value other_bits = b_->Make(Op::And, {base, b_->Make(Op::Not, {mask})});
  return b_->Make(Op::Or, {other_bits, b_->Make(Op::And, {b_->Make(Op::Shl, {what, offset}), mask})});
}

// Two results: the lower bits, and what does not fit there.
Value Lowering::WithHighBits(const Instruction& inst) {
  ir::Value left = GetOne(inst.At(0)), right = GetOne(inst.At(1));
  ir::Type type = kernel_->TypeOf(left);
  auto make = [&](Op op, ir::Value a, ir::Value b) { return b_->Make(op, {a, b}); };
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpIAddCarry: {
      ir::Value sum = make(Op::Add, left, right);
      return {{sum, b_->Cast(make(Op::Lt, Unsigned(sum), Unsigned(left)), type)}};
    }
    case spv::OpISubBorrow: {
      ir::Value borrow = make(Op::Lt, Unsigned(left), Unsigned(right));
      return {{make(Op::Sub, left, right), b_->Cast(borrow, type)}};
    }
    default: {
      ir::Value low = make(Op::Mul, left, right);
      if (inst.op == spv::OpSMulExtended) return {{low, make(Op::MulHi, left, right)}};
      return {{low, b_->Cast(make(Op::MulHi, Unsigned(left), Unsigned(right)), type)}};
    }
  }
}

// The highest bit that is set; -1 for none.
ir::Value Lowering::HighestBit(ir::Value v) {
  ir::Type t = kernel_->TypeOf(v);
  ir::Value most = Splat(b_->Int(t.ScalarType(), ir::BitWidth(t.scalar) - 1), t);
  return b_->Make(Op::Sub, {most, b_->Make(Op::Clz, {v})});
}

// The highest bit that differs from the sign.
ir::Value Lowering::HighestBitOfSigned(ir::Value v) {
  ir::Type t = kernel_->TypeOf(v);
  ir::Value negative = b_->Make(Op::Lt, {v, Splat(b_->Zero(t.ScalarType()), t)});
  return HighestBit(b_->Make(Op::Select, {negative, b_->Make(Op::Not, {v}), v}));
}

ir::Value Lowering::LowestBit(ir::Value v) {
  ir::Type t = kernel_->TypeOf(v);
  ir::Value none = b_->Make(Op::Eq, {v, Splat(b_->Zero(t.ScalarType()), t)});
  return b_->Make(Op::Select, {none, Splat(b_->Int(t.ScalarType(), -1), t), b_->Make(Op::Ctz, {v})});
}

}  // namespace adc::frontend::spirv

// Instructions of GLSL.std.450 that give one number or vector.

#include <spirv/unified1/GLSL.std.450.h>

#include <numbers>

#include "frontend/spirv/arithmetic.h"
#include "frontend/spirv/bits.h"
#include "frontend/spirv/operation_rows.h"

namespace adc::frontend::spirv {

using ir::Op;

std::optional<ir::Value> Arithmetic::Geometric(const Instruction& inst) {
  auto x = [&](size_t n) { return GetOne(inst.At(2 + n)); };
  auto make = [&](Op op, std::initializer_list<ir::Value> operands) { return b_.Make(op, operands); };
  auto length = [&](ir::Value v) {
    return kernel_.TypeOf(v).IsScalar() ? make(Op::Abs, {v}) : make(Op::Norm, {v});
  };
  auto dot = [&](ir::Value p, ir::Value q) {
    return kernel_.TypeOf(p).IsScalar() ? make(Op::Mul, {p, q}) : make(Op::Dot, {p, q});
  };
  switch (inst.At(1)) {
    case GLSLstd450Length:
      return length(x(0));
    case GLSLstd450Distance:
      return length(make(Op::Sub, {x(0), x(1)}));
    case GLSLstd450Normalize: {
      ir::Value v = x(0);
      return kernel_.TypeOf(v).IsScalar() ? make(Op::Div, {v, make(Op::Abs, {v})}) : make(Op::Normalize, {v});
    }
    case GLSLstd450FaceForward: {
      ir::Value n = x(0), inward = dot(x(2), x(1));
      ir::Value facing = make(Op::Lt, {inward, b_.FloatLike(inward, 0)});
      return make(Op::Select, {facing, n, make(Op::Neg, {n})});
    }
    case GLSLstd450Reflect: {
      ir::Value v = x(0), n = x(1);
      return make(Op::Sub, {v, make(Op::Mul, {n, b_.Scaled(dot(n, v), 2)})});
    }
    case GLSLstd450Refract: {
      ir::Value v = x(0), n = x(1), eta = x(2), d = dot(n, v);
      ir::Value one = b_.FloatLike(eta, 1), zero = b_.FloatLike(eta, 0);
      ir::Value sine =
          make(Op::Mul, {make(Op::Mul, {eta, eta}), make(Op::Sub, {one, make(Op::Mul, {d, d})})});
      ir::Value k = make(Op::Sub, {one, sine}), none = make(Op::Lt, {k, zero});
      // The root of a negative number would reach the derivative of the other branch.
      ir::Value root = make(Op::Sqrt, {make(Op::Select, {none, one, k})});
      ir::Value along = make(Op::Add, {make(Op::Mul, {eta, d}), root});
      ir::Value bent = make(Op::Sub, {make(Op::Mul, {v, eta}), make(Op::Mul, {n, along})});
      return make(Op::Select, {none, b_.FloatLike(bent, 0), bent});
    }
    default:
      return std::nullopt;
  }
}

std::optional<ir::Value> Arithmetic::OfSteps(const Instruction& inst) {
  auto x = [&](size_t n) { return GetOne(inst.At(2 + n)); };
  auto make = [&](Op op, std::initializer_list<ir::Value> operands) { return b_.Make(op, operands); };
  switch (inst.At(1)) {
    case GLSLstd450Fract: {
      ir::Value v = x(0);
      return make(Op::Sub, {v, make(Op::Floor, {v})});
    }
    case GLSLstd450Radians:
      return b_.Scaled(x(0), std::numbers::pi / 180);
    case GLSLstd450Degrees:
      return b_.Scaled(x(0), 180 / std::numbers::pi);
    case GLSLstd450NMin:
    case GLSLstd450NMax: {
      ir::Value p = x(0), q = x(1);
      ir::Value chosen = make(inst.At(1) == GLSLstd450NMin ? Op::Min : Op::Max, {q, p});
      return make(Op::Select, {make(Op::IsNan, {p}), q, chosen});
    }
    case GLSLstd450NClamp: {
      ir::Value v = x(0), low = x(1), clamped = make(Op::Clamp, {v, low, x(2)});
      return make(Op::Select, {make(Op::IsNan, {v}), low, clamped});
    }
    case GLSLstd450FMix: {
      ir::Value a = x(0), b = x(1), t = x(2);
      ir::Value rest = make(Op::Sub, {b_.FloatLike(t, 1), t});
      return make(Op::Add, {make(Op::Mul, {a, rest}), make(Op::Mul, {b, t})});
    }
    case GLSLstd450Step: {
      ir::Value edge = x(0), v = x(1);
      return make(Op::Select, {make(Op::Lt, {v, edge}), b_.FloatLike(v, 0), b_.FloatLike(v, 1)});
    }
    case GLSLstd450SmoothStep: {
      ir::Value low = x(0), high = x(1), v = x(2);
      ir::Value t = make(Op::Div, {make(Op::Sub, {v, low}), make(Op::Sub, {high, low})});
      t = make(Op::Clamp, {t, b_.FloatLike(t, 0), b_.FloatLike(t, 1)});
      ir::Value slope = make(Op::Sub, {b_.FloatLike(t, 3), b_.Scaled(t, 2)});
      return make(Op::Mul, {make(Op::Mul, {t, t}), slope});
    }
    default:
      return std::nullopt;
  }
}

std::optional<ir::Value> Arithmetic::OfBits(const Instruction& inst) {
  auto x = [&](size_t n) { return GetOne(inst.At(2 + n)); };
  auto type = [&] { return types_.Register(inst.type); };
  switch (inst.At(1)) {
    case GLSLstd450FindILsb:
      return b_.Cast(LowestBit(b_, x(0)), type());
    case GLSLstd450FindUMsb:
      return b_.Cast(HighestBit(b_, x(0)), type());
    case GLSLstd450FindSMsb:
      return b_.Cast(HighestBitOfSigned(b_, x(0)), type());
    case GLSLstd450PackSnorm4x8:
      return Pack(b_, x(0), 8, true);
    case GLSLstd450PackUnorm4x8:
      return Pack(b_, x(0), 8, false);
    case GLSLstd450PackSnorm2x16:
      return Pack(b_, x(0), 16, true);
    case GLSLstd450PackUnorm2x16:
      return Pack(b_, x(0), 16, false);
    case GLSLstd450UnpackSnorm4x8:
      return Unpack(b_, x(0), 8, true);
    case GLSLstd450UnpackUnorm4x8:
      return Unpack(b_, x(0), 8, false);
    case GLSLstd450UnpackSnorm2x16:
      return Unpack(b_, x(0), 16, true);
    case GLSLstd450UnpackUnorm2x16:
      return Unpack(b_, x(0), 16, false);
    case GLSLstd450PackHalf2x16:
      return BitsAs(b_, b_.Cast(x(0), ir::Type::Vec(ir::Scalar::F16, 2)), type(), inst.span);
    case GLSLstd450UnpackHalf2x16:
      return b_.Cast(BitsAs(b_, x(0), ir::Type::Vec(ir::Scalar::F16, 2), inst.span), type());
    case GLSLstd450PackDouble2x32:
    case GLSLstd450UnpackDouble2x32:
      return BitsAs(b_, x(0), type(), inst.span);
    case GLSLstd450Ldexp:
      return TimesPowerOf2(b_, x(0), x(1));
    default:
      return std::nullopt;
  }
}

std::optional<ir::Value> Arithmetic::GlslNumber(const Instruction& inst) {
  if (const Row* row = ExtendedRowOf(inst.At(1))) return MakeRow(*row, inst, 2);
  std::optional<ir::Value> made = Geometric(inst);
  if (!made) made = OfSteps(inst);
  return made ? made : OfBits(inst);
}

}  // namespace adc::frontend::spirv

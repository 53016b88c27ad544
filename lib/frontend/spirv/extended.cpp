// The instruction set GLSL.std.450.

#include <spirv/unified1/GLSL.std.450.h>

#include <numbers>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"
#include "frontend/spirv/operation_rows.h"

namespace adc::frontend::spirv {

using ir::Op;

ir::Value Lowering::Scaled(ir::Value value, double factor) {
  return b_->Make(Op::Mul, {value, FloatLike(value, factor)});
}

std::optional<ir::Value> Lowering::Geometric(const Instruction& inst) {
  auto x = [&](size_t n) { return GetOne(inst.At(2 + n)); };
  auto make = [&](Op op, std::initializer_list<ir::Value> operands) { return b_->Make(op, operands); };
  auto length = [&](ir::Value v) {
    return kernel_->TypeOf(v).IsScalar() ? make(Op::Abs, {v}) : make(Op::Norm, {v});
  };
  auto dot = [&](ir::Value p, ir::Value q) {
    return kernel_->TypeOf(p).IsScalar() ? make(Op::Mul, {p, q}) : make(Op::Dot, {p, q});
  };
  switch (inst.At(1)) {
    case GLSLstd450Length:
      return length(x(0));
    case GLSLstd450Distance:
      return length(make(Op::Sub, {x(0), x(1)}));
    case GLSLstd450Normalize: {
      ir::Value v = x(0);
      return kernel_->TypeOf(v).IsScalar() ? make(Op::Div, {v, make(Op::Abs, {v})})
                                           : make(Op::Normalize, {v});
    }
    case GLSLstd450FaceForward: {
      ir::Value n = x(0), inward = dot(x(2), x(1));
      ir::Value facing = make(Op::Lt, {inward, FloatLike(inward, 0)});
      return make(Op::Select, {facing, n, make(Op::Neg, {n})});
    }
    case GLSLstd450Reflect: {
      ir::Value v = x(0), n = x(1);
      return make(Op::Sub, {v, make(Op::Mul, {n, Scaled(dot(n, v), 2)})});
    }
    case GLSLstd450Refract: {
      ir::Value v = x(0), n = x(1), eta = x(2), d = dot(n, v);
      ir::Value one = FloatLike(eta, 1), zero = FloatLike(eta, 0);
      ir::Value sine =
          make(Op::Mul, {make(Op::Mul, {eta, eta}), make(Op::Sub, {one, make(Op::Mul, {d, d})})});
      ir::Value k = make(Op::Sub, {one, sine}), none = make(Op::Lt, {k, zero});
      // The root of a negative number would reach the derivative of the other branch.
      ir::Value root = make(Op::Sqrt, {make(Op::Select, {none, one, k})});
      ir::Value along = make(Op::Add, {make(Op::Mul, {eta, d}), root});
      ir::Value bent = make(Op::Sub, {make(Op::Mul, {v, eta}), make(Op::Mul, {n, along})});
      return make(Op::Select, {none, FloatLike(bent, 0), bent});
    }
    default:
      return std::nullopt;
  }
}

std::optional<ir::Value> Lowering::OfSteps(const Instruction& inst) {
  auto x = [&](size_t n) { return GetOne(inst.At(2 + n)); };
  auto make = [&](Op op, std::initializer_list<ir::Value> operands) { return b_->Make(op, operands); };
  switch (inst.At(1)) {
    case GLSLstd450Fract: {
      ir::Value v = x(0);
      return make(Op::Sub, {v, make(Op::Floor, {v})});
    }
    case GLSLstd450Radians:
      return Scaled(x(0), std::numbers::pi / 180);
    case GLSLstd450Degrees:
      return Scaled(x(0), 180 / std::numbers::pi);
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
      ir::Value rest = make(Op::Sub, {FloatLike(t, 1), t});
      return make(Op::Add, {make(Op::Mul, {a, rest}), make(Op::Mul, {b, t})});
    }
    case GLSLstd450Step: {
      ir::Value edge = x(0), v = x(1);
      return make(Op::Select, {make(Op::Lt, {v, edge}), FloatLike(v, 0), FloatLike(v, 1)});
    }
    case GLSLstd450SmoothStep: {
      ir::Value low = x(0), high = x(1), v = x(2);
      ir::Value t = make(Op::Div, {make(Op::Sub, {v, low}), make(Op::Sub, {high, low})});
      t = make(Op::Clamp, {t, FloatLike(t, 0), FloatLike(t, 1)});
      ir::Value slope = make(Op::Sub, {FloatLike(t, 3), Scaled(t, 2)});
      return make(Op::Mul, {make(Op::Mul, {t, t}), slope});
    }
    case GLSLstd450FindILsb:
      return b_->Cast(LowestBit(x(0)), types_.Register(inst.type));
    case GLSLstd450FindUMsb:
      return b_->Cast(HighestBit(x(0)), types_.Register(inst.type));
    case GLSLstd450FindSMsb:
      return b_->Cast(HighestBitOfSigned(x(0)), types_.Register(inst.type));
    default:
      return std::nullopt;
  }
}

bool Lowering::Modf(const Instruction& inst) {
  bool by_pointer = inst.At(1) == GLSLstd450Modf;
  if (!by_pointer && inst.At(1) != GLSLstd450ModfStruct) return false;
  ir::Value v = GetOne(inst.At(2)), whole = b_->Make(Op::Trunc, {v});
  if (by_pointer) Store(GetPointer(inst.At(3), inst), {{whole}}, inst);
  ir::Value rest = b_->Make(Op::Sub, {v, whole});
  Set(inst, by_pointer ? Value{{rest}} : Value{{rest, whole}});
  return true;
}

void Lowering::Extended(const Instruction& inst) {
  const Instruction* set = binary_.Find(inst.At(0));
  std::string name = set == nullptr ? "" : TextIn(set->operands);
  if (name == "NonSemantic.DebugPrintf") return DebugPrintf(inst);
  if (name.starts_with("NonSemantic.")) return;
  if (name != "GLSL.std.450")
    Refuse(diag::E0854, inst.span, "the instruction set '" + name + "' is not known",
           "GLSL.std.450 is taken");
  if (const Row* row = ExtendedRowOf(inst.At(1))) {
    SetOne(inst, MakeRow(*row, inst, 2));
    return;
  }
  std::optional<ir::Value> made = Geometric(inst);
  if (!made) made = OfSteps(inst);
  if (made) {
    SetOne(inst, *made);
    return;
  }
  if (Modf(inst) || Packing(inst)) return;
  Refuse(diag::E0854, inst.span,
         "instruction " + std::to_string(inst.At(1)) + " of GLSL.std.450 has no counterpart in a kernel",
         "docs/shaders.md lists what is taken");
}

}  // namespace adc::frontend::spirv

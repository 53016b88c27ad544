#include "frontend/cpp/library_functions.h"

#include <algorithm>

namespace adc::frontend {

using ir::Op, ir::Type, ir::Value;
using Values = std::span<const Value>;

namespace {

/// Halves away from zero, as C has it: the IR's `round` takes them to even.
Value RoundAway(Writer& to, Values v) {
  Value a = v[0];
  Type type = to.TypeOf(a);
  Value whole = to.Make(Op::Trunc, {a});
  Value rest = to.Make(Op::Abs, {to.Make(Op::Sub, {a, whole})});
  Value away = to.Make(Op::Ge, {rest, to.Float(type, 0.5)});
  Value one = to.Make(Op::Copysign, {to.Float(type, 1), a});
  Value rounded = to.Make(Op::Select, {away, to.Make(Op::Add, {whole, one}), whole});
  return to.Make(Op::Copysign, {rounded, a});
}

/// The rest of a after the nearest multiple of b, the even one of two.
Value Remainder(Writer& to, Values v) {
  Value a = v[0], b = to.Make(Op::Abs, {v[1]});
  Type type = to.TypeOf(a);
  auto twice = [&](Value of) { return to.Make(Op::Add, {of, of}); };
  Value rest = to.Make(Op::Rem, {to.Make(Op::Abs, {a}), twice(b)});
  Value more = to.Make(Op::Gt, {twice(rest), b});
  Value nearer = to.Make(Op::Sub, {rest, b});
  Value again = to.Make(Op::Ge, {twice(nearer), b});
  nearer = to.Make(Op::Select, {again, to.Make(Op::Sub, {nearer, b}), nearer});
  rest = to.Make(Op::Select, {more, nearer, rest});
  Value one = to.Make(Op::Copysign, {to.Float(type, 1), a});
  return to.Make(Op::Mul, {rest, one});
}

/// `std::lerp`, whose standard asks for b at t = 1 and for values that stay on b's side of it. The library
/// gives b itself there, whose derivative to t is 0: here a difference of 0 has the derivative that the line
/// has.
Value Lerp(Writer& to, Values v) {
  Value a = v[0], b = v[1], t = v[2];
  Type type = to.TypeOf(a);
  Value zero = to.Zero(type), one = to.Float(type, 1);
  auto both = [&](Op left, Op right) {
    return to.Make(Op::And, {to.Make(left, {a, zero}), to.Make(right, {b, zero})});
  };
  Value opposite = to.Make(Op::Or, {both(Op::Le, Op::Ge), both(Op::Ge, Op::Le)});
  Value mixed =
      to.Make(Op::Add, {to.Make(Op::Mul, {t, b}), to.Make(Op::Mul, {to.Make(Op::Sub, {one, t}), a})});
  Value slope = to.Make(Op::Sub, {b, a});
  Value line = to.Make(Op::Add, {a, to.Make(Op::Mul, {t, slope})});
  Value rest = to.Make(Op::Mul, {to.Make(Op::Sub, {t, one}), slope});
  Value nothing = to.Make(Op::Sub, {rest, to.Make(Op::StopGradient, {rest})});
  Value end = to.Make(Op::Add, {b, to.Make(Op::Select, {to.Make(Op::IsFinite, {rest}), nothing, zero})});
  Value beyond = to.Make(Op::Eq, {to.Make(Op::Gt, {t, one}), to.Make(Op::Gt, {b, a})});
  Value at_end = to.Make(Op::Select, {beyond, to.Make(Op::Ge, {b, line}), to.Make(Op::Le, {b, line})});
  at_end = to.Make(Op::Or, {at_end, to.Make(Op::Eq, {t, one})});
  return to.Make(Op::Select, {opposite, mixed, to.Make(Op::Select, {at_end, end, line})});
}

/// The other operand where one is NaN.
template <Op kOp>
Value NumberOf(Writer& to, Values v) {
  return to.Make(Op::Select, {to.Make(Op::IsNan, {v[1]}), v[0], to.Make(kOp, {v[0], v[1]})});
}

/// The library gives the first operand on a tie, the IR the second.
template <Op kOp>
Value FirstOf(Writer& to, Values v) {
  return to.Make(kOp, {v[1], v[0]});
}

/// Ties and NaN give the value itself.
Value Clamp(Writer& to, Values v) {
  return to.Make(Op::Min, {v[2], to.Make(Op::Max, {v[1], v[0]})});
}

Value Hypot3(Writer& to, Values v) {
  return to.Make(Op::Hypot, {to.Make(Op::Hypot, {v[0], v[1]}), v[2]});
}

Value SignBit(Writer& to, Values v) {
  Type bits = to.TypeOf(v[0]) == ir::kF32 ? ir::kI32 : ir::kI64;
  return to.Make(Op::Lt, {to.Bitcast(v[0], bits), to.Zero(bits)});
}

/// Those that are no function of the IR by the same name.
constexpr LibraryFunction kFunctions[] = {
    {"nearbyint", 1, Op::Round},
    {"rint", 1, Op::Round},
    {"fabs", 1, Op::Abs},
    {"round", 1, RoundAway},
    {"fmod", 2, Op::Rem},
    {"remainder", 2, Remainder},
    {"fmin", 2, NumberOf<Op::Min>},
    {"fmax", 2, NumberOf<Op::Max>},
    {"hypot", 3, Hypot3},
    {"lerp", 3, Lerp, Takes::Floats, From::Std},
    {"abs", 1, Op::Abs, Takes::Numbers},
    {"min", 2, FirstOf<Op::Min>, Takes::Numbers, From::Std},
    {"max", 2, FirstOf<Op::Max>, Takes::Numbers, From::Std},
    {"clamp", 3, Clamp, Takes::Numbers, From::Std},
    {"isnan", 1, Op::IsNan, Takes::AnyFloat},
    {"isinf", 1, Op::IsInf, Takes::AnyFloat},
    {"isfinite", 1, Op::IsFinite, Takes::AnyFloat},
    {"signbit", 1, SignBit, Takes::AnyFloat},
    {"popcount", 1, Op::Popcount, Takes::Bits, From::Std},
    {"countl_zero", 1, Op::Clz, Takes::Bits, From::Std},
    {"countr_zero", 1, Op::Ctz, Takes::Bits, From::Std},
    {"clz", 1, Op::Clz, Takes::Bits, From::Compiler},
    {"ctz", 1, Op::Ctz, Takes::Bits, From::Compiler},
    {"popcount", 1, Op::Popcount, Takes::Bits, From::Compiler},
};

/// A function of floats.
std::optional<Op> FunctionOfIr(llvm::StringRef name) {
  std::optional<Op> op = ir::OpFromSpelling(name);
  return op && ir::InfoOf(*op).rule == ir::TypeRule::SameFloat ? op : std::nullopt;
}

bool IsFloatFunction(llvm::StringRef name) {
  return FunctionOfIr(name) || std::ranges::any_of(kFunctions, [&](const LibraryFunction& row) {
           return row.name == name && row.takes == Takes::Floats;
         });
}

}  // namespace

llvm::StringRef WithoutSuffix(llvm::StringRef name) {
  bool has_suffix = !IsFloatFunction(name) && name.ends_with("f") && IsFloatFunction(name.drop_back());
  return has_suffix ? name.drop_back() : name;
}

std::optional<LibraryFunction> FindLibraryFunction(llvm::StringRef name, size_t operands, From from) {
  llvm::StringRef base = name;
  do {
    const auto* row = std::ranges::find_if(kFunctions, [&](const LibraryFunction& one) {
      return one.name == base && one.operands == operands && (one.from == From::Anywhere || one.from == from);
    });
    if (row != std::end(kFunctions)) return *row;
    // `clzll` is `clz`, of a longer integer.
  } while (from == From::Compiler && base.consume_back("l"));
  std::optional<Op> op = FunctionOfIr(name);
  if (!op || !ir::ResultType(*op, std::vector<Type>(operands, ir::kF64))) return std::nullopt;
  return LibraryFunction{name, operands, *op};
}

Value LibraryFunction::Make(Writer& to, Values v) const {
  const Own* own = std::get_if<Own>(&made_by);
  return own != nullptr ? (*own)(to, v) : to.Make(std::get<Op>(made_by), v);
}

}  // namespace adc::frontend

// Functions of the C++ library that are operations of the IR. Others are lowered from their bodies, where the
// library has them in its headers.

#include <clang/Basic/Builtins.h>

#include "diag/errors/cpp.h"
#include "frontend/cpp/lowering.h"

namespace adc::frontend {

using clang::SourceRange;
using ir::Op;
using ir::Type;
using ir::Value;

namespace {

const std::map<llvm::StringRef, Op>& UnaryFunctions() {
  static const std::map<llvm::StringRef, Op> kTable = {
      {"sin", Op::Sin},   {"cos", Op::Cos},     {"tan", Op::Tan},         {"asin", Op::Asin},
      {"acos", Op::Acos}, {"atan", Op::Atan},   {"sinh", Op::Sinh},       {"cosh", Op::Cosh},
      {"tanh", Op::Tanh}, {"asinh", Op::Asinh}, {"acosh", Op::Acosh},     {"atanh", Op::Atanh},
      {"exp", Op::Exp},   {"exp2", Op::Exp2},   {"expm1", Op::Expm1},     {"log", Op::Log},
      {"log2", Op::Log2}, {"log10", Op::Log10}, {"log1p", Op::Log1p},     {"sqrt", Op::Sqrt},
      {"cbrt", Op::Cbrt}, {"floor", Op::Floor}, {"ceil", Op::Ceil},       {"trunc", Op::Trunc},
      {"erf", Op::Erf},   {"erfc", Op::Erfc},   {"nearbyint", Op::Round}, {"rint", Op::Round},
      {"fabs", Op::Abs}};
  return kTable;
}

const std::map<llvm::StringRef, Op>& BinaryFunctions() {
  static const std::map<llvm::StringRef, Op> kTable = {{"pow", Op::Pow},           {"atan2", Op::Atan2},
                                                       {"fmod", Op::Rem},          {"hypot", Op::Hypot},
                                                       {"copysign", Op::Copysign}, {"fdim", Op::Fdim}};
  return kTable;
}

const std::map<llvm::StringRef, Op>& Predicates() {
  static const std::map<llvm::StringRef, Op> kTable = {
      {"isnan", Op::IsNan}, {"isinf", Op::IsInf}, {"isfinite", Op::IsFinite}};
  return kTable;
}

const std::map<llvm::StringRef, Op>& BitFunctions() {
  static const std::map<llvm::StringRef, Op> kTable = {
      {"popcount", Op::Popcount}, {"countl_zero", Op::Clz}, {"countr_zero", Op::Ctz}};
  return kTable;
}

/// The compiler's own, by which libraries define theirs.
const std::map<llvm::StringRef, Op>& BitBuiltins() {
  static const std::map<llvm::StringRef, Op> kTable = {
      {"clz", Op::Clz},           {"clzl", Op::Clz},           {"clzll", Op::Clz},
      {"ctz", Op::Ctz},           {"ctzl", Op::Ctz},           {"ctzll", Op::Ctz},
      {"popcount", Op::Popcount}, {"popcountl", Op::Popcount}, {"popcountll", Op::Popcount}};
  return kTable;
}

/// `sinf` is `sin`.
llvm::StringRef WithoutSuffix(llvm::StringRef name) {
  auto known = [](llvm::StringRef n) {
    return UnaryFunctions().contains(n) || BinaryFunctions().contains(n) || n == "fmin" || n == "fmax" ||
           n == "fma" || n == "round" || n == "remainder";
  };
  if (!known(name) && name.ends_with("f") && known(name.drop_back())) return name.drop_back();
  return name;
}

}  // namespace

/// Halves away from zero, as C has it: the IR's `round` takes them to even.
Value Lowering::RoundAway(Value a) {
  Type type = ssa_.TypeOf(a);
  Value whole = ssa_.Make(Op::Trunc, {a});
  Value rest = ssa_.Make(Op::Abs, {ssa_.Make(Op::Sub, {a, whole})});
  Value away = ssa_.Make(Op::Ge, {rest, ssa_.builder().Float(type, 0.5)});
  Value one = ssa_.Make(Op::Copysign, {ssa_.builder().Float(type, 1), a});
  Value rounded = ssa_.Make(Op::Select, {away, ssa_.Make(Op::Add, {whole, one}), whole});
  return ssa_.Make(Op::Copysign, {rounded, a});
}

/// What is left of a, less the nearest multiple of b, the even one of two.
Value Lowering::Remainder(Value a, Value b) {
  Type type = ssa_.TypeOf(a);
  b = ssa_.Make(Op::Abs, {b});
  auto twice = [&](Value v) { return ssa_.Make(Op::Add, {v, v}); };
  Value rest = ssa_.Make(Op::Rem, {ssa_.Make(Op::Abs, {a}), twice(b)});
  Value more = ssa_.Make(Op::Gt, {twice(rest), b});
  Value nearer = ssa_.Make(Op::Sub, {rest, b});
  Value again = ssa_.Make(Op::Ge, {twice(nearer), b});
  nearer = ssa_.Make(Op::Select, {again, ssa_.Make(Op::Sub, {nearer, b}), nearer});
  rest = ssa_.Make(Op::Select, {more, nearer, rest});
  Value one = ssa_.Make(Op::Copysign, {ssa_.builder().Float(type, 1), a});
  return ssa_.Make(Op::Mul, {rest, one});
}

/// `std::lerp`, whose standard asks for b at t = 1 and for values that stay on b's side of it. The library
/// gives b itself there, whose derivative to t is 0: here a difference of 0 has the derivative that the line
/// has.
Value Lowering::Lerp(Value a, Value b, Value t) {
  Type type = ssa_.TypeOf(a);
  Value zero = ssa_.builder().Zero(type), one = ssa_.builder().Float(type, 1);
  auto both = [&](Op left, Op right) {
    return ssa_.Make(Op::And, {ssa_.Make(left, {a, zero}), ssa_.Make(right, {b, zero})});
  };
  Value opposite = ssa_.Make(Op::Or, {both(Op::Le, Op::Ge), both(Op::Ge, Op::Le)});
  Value mixed =
      ssa_.Make(Op::Add, {ssa_.Make(Op::Mul, {t, b}), ssa_.Make(Op::Mul, {ssa_.Make(Op::Sub, {one, t}), a})});
  Value slope = ssa_.Make(Op::Sub, {b, a});
  Value line = ssa_.Make(Op::Add, {a, ssa_.Make(Op::Mul, {t, slope})});
  Value rest = ssa_.Make(Op::Mul, {ssa_.Make(Op::Sub, {t, one}), slope});
  Value nothing = ssa_.Make(Op::Sub, {rest, ssa_.Make(Op::StopGradient, {rest})});
  Value end =
      ssa_.Make(Op::Add, {b, ssa_.Make(Op::Select, {ssa_.Make(Op::IsFinite, {rest}), nothing, zero})});
  Value beyond = ssa_.Make(Op::Eq, {ssa_.Make(Op::Gt, {t, one}), ssa_.Make(Op::Gt, {b, a})});
  Value at_end = ssa_.Make(Op::Select, {beyond, ssa_.Make(Op::Ge, {b, line}), ssa_.Make(Op::Le, {b, line})});
  at_end = ssa_.Make(Op::Or, {at_end, ssa_.Make(Op::Eq, {t, one})});
  return ssa_.Make(Op::Select, {opposite, mixed, ssa_.Make(Op::Select, {at_end, end, line})});
}

/// `std::min(a, b)`, `max` and `clamp` where a reference is bound to what they give, which is one of these.
ObjectPtr Lowering::ExtremeByReference(const clang::CallExpr* call) {
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr || !function->isInStdNamespace() || function->getIdentifier() == nullptr)
    return nullptr;
  bool least = function->getName() == "min";
  bool clamp = function->getName() == "clamp";
  if ((!least && !clamp && function->getName() != "max") || !call->isGLValue()) return nullptr;
  if (call->getNumArgs() != (clamp ? 3 : 2)) return nullptr;
  std::optional<Type> type = RegisterType(call->getType());
  if (!type || !type->IsScalar()) return nullptr;
  ObjectPtr a = Place(call->getArg(0));
  ObjectPtr b = Place(call->getArg(1));
  if (clamp) {
    ObjectPtr c = Place(call->getArg(2));
    ir::Value v = Load(a, call->getSourceRange()), low = Load(b, call->getSourceRange());
    ir::Value high = Load(c, call->getSourceRange());
    if (type->IsBool()) return nullptr;
    ObjectPtr above = ChoiceOf(ssa_.Make(Op::Lt, {high, v}), c, a);
    return ChoiceOf(ssa_.Make(Op::Lt, {v, low}), b, above);
  }
  ir::Value first = Load(a, call->getSourceRange()), second = Load(b, call->getSourceRange());
  SetPlace(call->getSourceRange());
  if (type->IsBool()) first = ssa_.Cast(first, ir::kI32), second = ssa_.Cast(second, ir::kI32);
  ir::Value other = least ? ssa_.Make(Op::Lt, {second, first}) : ssa_.Make(Op::Lt, {first, second});
  return ChoiceOf(other, b, a);
}

std::optional<Given> Lowering::CallLibrary(const clang::CallExpr* call, const clang::FunctionDecl* function,
                                           llvm::ArrayRef<const clang::Expr*> arguments) {
  const clang::IdentifierInfo* identifier = function->getIdentifier();
  if (identifier == nullptr) return std::nullopt;
  bool in_std = function->isInStdNamespace() || InNamespace(function, "std");
  bool global = function->getDeclContext()->getRedeclContext()->isTranslationUnit() ||
                (function->isExternC() && shared_.places.InSystemHeader(function->getLocation()));
  if (!in_std && !global && function->getBuiltinID() == 0) return std::nullopt;
  // A function of the user's that has a library's name is the user's.
  if (!in_std && function->getBuiltinID() == 0 && !shared_.places.InSystemHeader(function->getLocation()))
    return std::nullopt;
  llvm::StringRef name = identifier->getName();
  SourceRange range = call->getSourceRange();
  if (name.starts_with("__builtin_")) name = name.drop_front(10);
  name = WithoutSuffix(name);
  auto number = [&](size_t n, Type type) { return Convert(ValueOf(arguments[n]), type); };
  auto given = [](Value v) { return Given{v, {}}; };
  std::optional<Type> result = RegisterType(call->getType());
  if (std::optional<Given> complex = CallComplex(call, name)) return complex;
  if (in_std && (name == "move" || name == "forward" || name == "as_const") && arguments.size() == 1)
    return Given{{}, Place(arguments[0])};
  if ((name == "addressof" || name == "__addressof") && arguments.size() == 1)
    return Given{{}, PointerTo(call->getType(), AddressOfPlace(arguments[0]), range)};
  if ((name == "memcpy" || name == "memmove" || name == "memset") && arguments.size() == 3) {
    MoveMemory(call, name == "memset");
    return Given{};
  }
  if (in_std && name == "bit_cast" && result && result->IsScalar()) {
    Value v = ValueOf(arguments[0]);
    SetPlace(range);
    Type from = ssa_.TypeOf(v);
    if (from == *result) return given(v);
    if (!from.IsScalar() || from.IsBool() || result->IsBool())
      Refuse(call, "std::bit_cast of something that is no number");
    return given(ssa_.builder().Bitcast(v, *result));
  }
  if (in_std && name == "swap" && arguments.size() == 2 && call->getType()->isVoidType()) {
    ObjectPtr a = Place(arguments[0]);
    ObjectPtr b = Place(arguments[1]);
    ObjectPtr old = NewObject(a->type, {}, range);
    SetPlace(range);
    Copy(old, a, range);
    Copy(a, b, range);
    Copy(b, old, range);
    return Given{};
  }
  if (name == "is_constant_evaluated" || name == "__is_constant_evaluated")
    return given(ssa_.builder().Int(ir::kI1, 0));
  if (name == "expect" && arguments.size() >= 1 && function->getBuiltinID() != 0)
    return given(ValueOf(arguments[0]));
  if (name == "unreachable" || name == "abort" || name == "exit" || name == "terminate")
    Refuse(call, "a kernel cannot end the program", "use assert");
  if (!result || !result->IsScalar()) return std::nullopt;
  const clang::CXXRecordDecl* record = arguments.empty() ? nullptr : RecordOf(arguments[0]->getType());
  if (record != nullptr && record->isInStdNamespace() && record->getName() == "complex") return std::nullopt;
  bool is_float = result->IsFloat();
  if (is_float && arguments.size() == 1) {
    auto found = UnaryFunctions().find(name);
    if (found != UnaryFunctions().end()) {
      Value a = number(0, *result);
      SetPlace(range);
      return given(ssa_.Make(found->second, {a}));
    }
    if (name == "round") {
      Value a = number(0, *result);
      SetPlace(range);
      return given(RoundAway(a));
    }
  }
  if (arguments.size() == 1 && name == "abs" && !result->IsBool()) {
    Value a = number(0, *result);
    SetPlace(range);
    return given(ssa_.Make(Op::Abs, {a}));
  }
  if (arguments.size() == 1 && (is_float || true)) {
    auto found = Predicates().find(name);
    if (found != Predicates().end()) {
      Value a = ValueOf(arguments[0]);
      if (!ssa_.TypeOf(a).IsFloat()) a = Convert(a, ir::kF64);
      SetPlace(range);
      return given(Convert(ssa_.Make(found->second, {a}), *result));
    }
    if (name == "signbit") {
      Value a = ValueOf(arguments[0]);
      if (!ssa_.TypeOf(a).IsFloat()) a = Convert(a, ir::kF64);
      SetPlace(range);
      Type bits = ssa_.TypeOf(a) == ir::kF32 ? ir::kI32 : ir::kI64;
      Value sign = ssa_.Make(Op::Lt, {ssa_.builder().Bitcast(a, bits), ssa_.builder().Zero(bits)});
      return given(Convert(sign, *result));
    }
    const std::map<llvm::StringRef, Op>& names = in_std ? BitFunctions() : BitBuiltins();
    auto bits = names.find(name);
    if ((in_std || function->getBuiltinID() != 0) && bits != names.end()) {
      Value a = ValueOf(arguments[0]);
      SetPlace(range);
      return given(Convert(ssa_.Make(bits->second, {a}), *result));
    }
  }
  const clang::Expr* list = arguments.empty() ? nullptr : arguments[0]->IgnoreImplicit();
  if (in_std && (name == "min" || name == "max") && arguments.size() == 1 && list != nullptr) {
    // std::min({a, b, c}): the first of the least.
    if (const auto* made = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(list))
      list = made->getSubExpr()->IgnoreImplicit();
    if (const auto* values = llvm::dyn_cast<clang::InitListExpr>(list);
        values != nullptr && values->getNumInits() > 0) {
      Value best = ValueOf(values->getInit(0));
      for (unsigned n = 1; n < values->getNumInits(); ++n) {
        Value next = ValueOf(values->getInit(n));
        SetPlace(range);
        best = ssa_.Make(name == "min" ? Op::Min : Op::Max, {next, best});
      }
      return given(best);
    }
  }
  if (arguments.size() == 2) {
    auto found = BinaryFunctions().find(name);
    if (is_float && found != BinaryFunctions().end()) {
      Value a = number(0, *result);
      Value b = number(1, *result);
      SetPlace(range);
      return given(ssa_.Make(found->second, {a, b}));
    }
    if (is_float && name == "remainder") {
      Value a = number(0, *result);
      Value b = number(1, *result);
      SetPlace(range);
      return given(Remainder(a, b));
    }
    if (is_float && (name == "fmin" || name == "fmax")) {
      // The other operand where one is NaN.
      Value a = number(0, *result);
      Value b = number(1, *result);
      SetPlace(range);
      Value least = ssa_.Make(name == "fmin" ? Op::Min : Op::Max, {a, b});
      return given(ssa_.Make(Op::Select, {ssa_.Make(Op::IsNan, {b}), a, least}));
    }
    if (in_std && (name == "min" || name == "max") && !result->IsBool()) {
      // The library gives the first operand on a tie, the IR the second.
      Value a = ValueOf(arguments[0]);
      Value b = ValueOf(arguments[1]);
      SetPlace(range);
      return given(ssa_.Make(name == "min" ? Op::Min : Op::Max, {b, a}));
    }
  }
  if (arguments.size() == 3) {
    if (is_float && name == "fma") {
      Value a = number(0, *result);
      Value b = number(1, *result);
      Value c = number(2, *result);
      SetPlace(range);
      return given(ssa_.Make(Op::Fma, {a, b, c}));
    }
    if (in_std && is_float && name == "lerp") {
      Value a = number(0, *result);
      Value b = number(1, *result);
      Value c = number(2, *result);
      SetPlace(range);
      return given(Lerp(a, b, c));
    }
    if (is_float && name == "hypot") {
      Value a = number(0, *result);
      Value b = number(1, *result);
      Value c = number(2, *result);
      SetPlace(range);
      return given(ssa_.Make(Op::Hypot, {ssa_.Make(Op::Hypot, {a, b}), c}));
    }
    if (in_std && name == "clamp" && !result->IsBool()) {
      // Ties and NaN give the value itself.
      Value v = ValueOf(arguments[0]);
      Value low = ValueOf(arguments[1]);
      Value high = ValueOf(arguments[2]);
      SetPlace(range);
      return given(ssa_.Make(Op::Min, {high, ssa_.Make(Op::Max, {low, v})}));
    }
  }
  if (std::optional<Value> constant = TryConstant(call)) return given(*constant);
  bool c_function = function->isExternC() || function->getBuiltinID() != 0;
  if (c_function && !function->hasBody())
    Refuse(call, "kernels do not know the function '" + function->getNameAsString() + "'",
           "docs/cpp.md lists the library functions that kernels know");
  return std::nullopt;
}

}  // namespace adc::frontend

#include "frontend/cpp/complex.h"

namespace adc::frontend {

Complex ComplexNumbers::ComplexIn(const ObjectPtr& object, SourceRange range) {
  auto part = [&](uint64_t n) { return Load(Element(object, Number(n), range), range); };
  Value real = part(0);
  return {real, part(1)};
}

/// The value of a complex or of a real expression, which has no imaginary part.
Complex ComplexNumbers::ComplexOf(const clang::Expr* e) {
  if (!e->getType()->isAnyComplexType()) return {ValueOf(e), {}};
  return ComplexIn(Place(e), e->getSourceRange());
}

void ComplexNumbers::StoreComplex(const ObjectPtr& object, Complex value, SourceRange range) {
  Type type = *ScalarOf(object->element);
  auto store = [&](uint64_t n, Value v) {
    Store(Element(object, Number(n), range), v.Valid() ? Convert(v, type) : ZeroOf(type), range);
  };
  store(0, value.real);
  store(1, value.imaginary);
}

/// A quotient, divided by the larger part of the denominator first, so that no square overflows. The result
/// does not depend on that factor, and its derivative neither.
Complex ComplexNumbers::Quotient(Complex a, Complex b) {
  Type type = TypeOf(a.real);
  Value scale = Make(Op::Max, {Make(Op::Abs, {b.real}), Make(Op::Abs, {b.imaginary})});
  scale = Make(Op::StopGradient, {scale});
  Value c = Make(Op::Div, {b.real, scale}), d = Make(Op::Div, {b.imaginary, scale});
  Value square = Make(Op::Mul, {Make(Op::Add, {Make(Op::Mul, {c, c}), Make(Op::Mul, {d, d})}), scale});
  Value imaginary = a.imaginary.Valid() ? a.imaginary : ZeroOf(type);
  Value x = Make(Op::Add, {Make(Op::Mul, {a.real, c}), Make(Op::Mul, {imaginary, d})});
  Value y = Make(Op::Sub, {Make(Op::Mul, {imaginary, c}), Make(Op::Mul, {a.real, d})});
  return {Make(Op::Div, {x, square}), Make(Op::Div, {y, square})};
}

Complex ComplexNumbers::ComplexArithmetic(clang::BinaryOperatorKind kind, Complex a, Complex b,
                                          const clang::Expr* at) {
  SetPlace(at->getSourceRange());
  if (!(TypeOf(a.real) == TypeOf(b.real))) Refuse(at, "complex numbers of different types");
  bool both = a.imaginary.Valid() && b.imaginary.Valid();
  Value only = a.imaginary.Valid() ? a.imaginary : b.imaginary;
  switch (kind) {
    case clang::BO_Add:
      return {Make(Op::Add, {a.real, b.real}), both ? Make(Op::Add, {a.imaginary, b.imaginary}) : only};
    case clang::BO_Sub:
      if (!both && b.imaginary.Valid()) only = Make(Op::Neg, {only});
      return {Make(Op::Sub, {a.real, b.real}), both ? Make(Op::Sub, {a.imaginary, b.imaginary}) : only};
    case clang::BO_Mul: {
      if (!both) {
        Value factor = a.imaginary.Valid() ? b.real : a.real;
        return {Make(Op::Mul, {a.real, b.real}), Make(Op::Mul, {only, factor})};
      }
      Value real =
          Make(Op::Sub, {Make(Op::Mul, {a.real, b.real}), Make(Op::Mul, {a.imaginary, b.imaginary})});
      return {real,
              Make(Op::Add, {Make(Op::Mul, {a.real, b.imaginary}), Make(Op::Mul, {a.imaginary, b.real})})};
    }
    case clang::BO_Div:
      if (b.imaginary.Valid()) return Quotient(a, b);
      return {Make(Op::Div, {a.real, b.real}), Make(Op::Div, {a.imaginary, b.real})};
    default:
      Refuse(at, "kernels do not have this operator of complex numbers");
  }
}

/// From an expression that is complex and no object yet. False: it is one that all objects have.
bool ComplexNumbers::InitialiseComplex(const ObjectPtr& object, const clang::Expr* e) {
  SourceRange range = e->getSourceRange();
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    const clang::Expr* from = cast->getSubExpr();
    switch (cast->getCastKind()) {
      case clang::CK_LValueToRValue:
        Copy(object, Place(from), range);
        return true;
      case clang::CK_FloatingRealToComplex:
      case clang::CK_FloatingComplexCast:
        StoreComplex(object, ComplexOf(from), range);
        return true;
      default:
        return false;
    }
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(e)) {
    bool minus = unary->getOpcode() == clang::UO_Minus, conjugate = unary->getOpcode() == clang::UO_Not;
    if (!minus && !conjugate && unary->getOpcode() != clang::UO_Plus) return false;
    Complex value = ComplexOf(unary->getSubExpr());
    if (minus) value.real = Make(Op::Neg, {value.real});
    if (minus || conjugate) value.imaginary = Make(Op::Neg, {value.imaginary});
    StoreComplex(object, value, range);
    return true;
  }
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(e);
  if (binary == nullptr || binary->getOpcode() == clang::BO_Comma) return false;
  Complex a = ComplexOf(binary->getLHS()), b = ComplexOf(binary->getRHS());
  StoreComplex(object, ComplexArithmetic(binary->getOpcode(), a, b, e), range);
  return true;
}

/// `a *= b`
ObjectPtr ComplexNumbers::AssignComplex(const clang::CompoundAssignOperator* assignment) {
  SourceRange range = assignment->getSourceRange();
  Complex right = ComplexOf(assignment->getRHS());
  ObjectPtr place = Place(assignment->getLHS());
  auto kind = clang::BinaryOperator::getOpForCompoundAssignment(assignment->getOpcode());
  StoreComplex(place, ComplexArithmetic(kind, ComplexIn(place, range), right, assignment), range);
  return place;
}

/// The root whose real part is not negative.
Complex ComplexNumbers::ComplexRoot(Complex z) {
  Type type = TypeOf(z.real);
  Value zero = ZeroOf(type), half = writer_.Float(type, 0.5);
  Value length = Make(Op::Add, {Make(Op::Hypot, {z.real, z.imaginary}), Make(Op::Abs, {z.real})});
  Value large = Make(Op::Sqrt, {Make(Op::Mul, {length, half})});
  Value small = Make(Op::Div, {Make(Op::Mul, {z.imaginary, half}), large});
  small = Make(Op::Select, {Make(Op::Eq, {large, zero}), z.imaginary, small});
  Value right = Make(Op::Ge, {z.real, zero});
  Value real = Make(Op::Select, {right, large, Make(Op::Abs, {small})});
  return {real, Make(Op::Select, {right, small, Make(Op::Copysign, {large, z.imaginary})})};
}

Complex ComplexNumbers::ComplexExp(Complex z) {
  Value e = Make(Op::Exp, {z.real});
  Value real = Make(Op::Mul, {e, Make(Op::Cos, {z.imaginary})});
  return {real, Make(Op::Mul, {e, Make(Op::Sin, {z.imaginary})})};
}

Complex ComplexNumbers::ComplexLog(Complex z) {
  Value real = Make(Op::Log, {Make(Op::Hypot, {z.real, z.imaginary})});
  return {real, Make(Op::Atan2, {z.imaginary, z.real})};
}

/// The C library's functions of complex numbers, and the compiler's that makes one of two numbers.
std::optional<Given> ComplexNumbers::CallComplex(const clang::CallExpr* call, llvm::StringRef name) {
  if (name == "complex" && call->getBuiltinCallee() != 0) {
    ObjectPtr made = NewObject(call->getType(), {}, call->getSourceRange());
    StoreComplex(made, {ValueOf(call->getArg(0)), ValueOf(call->getArg(1))}, call->getSourceRange());
    return made;
  }
  if (call->getNumArgs() == 0 || !call->getArg(0)->getType()->isAnyComplexType()) return std::nullopt;
  name.consume_back("f");
  SourceRange range = call->getSourceRange();
  bool number = name == "cabs" || name == "carg", power = name == "cpow";
  if (!number && !power && name != "cexp" && name != "clog" && name != "csqrt") return std::nullopt;
  Complex z = ComplexOf(call->getArg(0)), exponent;
  if (power) exponent = ComplexOf(call->getArg(1));
  SetPlace(range);
  if (number)
    return name == "cabs" ? Make(Op::Hypot, {z.real, z.imaginary}) : Make(Op::Atan2, {z.imaginary, z.real});
  Complex result = name == "cexp" ? ComplexExp(z) : name == "csqrt" ? ComplexRoot(z) : ComplexLog(z);
  if (power) result = ComplexExp(ComplexArithmetic(clang::BO_Mul, exponent, result, call));
  ObjectPtr object = NewObject(call->getType(), {}, range);
  StoreComplex(object, result, range);
  return object;
}

}  // namespace adc::frontend

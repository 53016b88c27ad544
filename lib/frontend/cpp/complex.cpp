#include "frontend/cpp/complex.h"

#include "diag/errors/cpp.h"

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
  Type type = writer_.TypeOf(a.real);
  Value scale =
      writer_.Make(Op::Max, {writer_.Make(Op::Abs, {b.real}), writer_.Make(Op::Abs, {b.imaginary})});
  scale = writer_.Make(Op::StopGradient, {scale});
  Value c = writer_.Make(Op::Div, {b.real, scale}), d = writer_.Make(Op::Div, {b.imaginary, scale});
  Value square = writer_.Make(
      Op::Mul,
      {writer_.Make(Op::Add, {writer_.Make(Op::Mul, {c, c}), writer_.Make(Op::Mul, {d, d})}), scale});
  Value imaginary = a.imaginary.Valid() ? a.imaginary : ZeroOf(type);
  Value x =
      writer_.Make(Op::Add, {writer_.Make(Op::Mul, {a.real, c}), writer_.Make(Op::Mul, {imaginary, d})});
  Value y =
      writer_.Make(Op::Sub, {writer_.Make(Op::Mul, {imaginary, c}), writer_.Make(Op::Mul, {a.real, d})});
  return {writer_.Make(Op::Div, {x, square}), writer_.Make(Op::Div, {y, square})};
}

Complex ComplexNumbers::ComplexArithmetic(clang::BinaryOperatorKind kind, Complex a, Complex b,
                                          const clang::Expr* at) {
  SetPlace(at->getSourceRange());
  if (!(writer_.TypeOf(a.real) == writer_.TypeOf(b.real))) Refuse(at, "complex numbers of different types");
  bool both = a.imaginary.Valid() && b.imaginary.Valid();
  Value only = a.imaginary.Valid() ? a.imaginary : b.imaginary;
  switch (kind) {
    case clang::BO_Add:
      return {writer_.Make(Op::Add, {a.real, b.real}),
              both ? writer_.Make(Op::Add, {a.imaginary, b.imaginary}) : only};
    case clang::BO_Sub:
      if (!both && b.imaginary.Valid()) only = writer_.Make(Op::Neg, {only});
      return {writer_.Make(Op::Sub, {a.real, b.real}),
              both ? writer_.Make(Op::Sub, {a.imaginary, b.imaginary}) : only};
    case clang::BO_Mul: {
      if (!both) {
        Value factor = a.imaginary.Valid() ? b.real : a.real;
        return {writer_.Make(Op::Mul, {a.real, b.real}), writer_.Make(Op::Mul, {only, factor})};
      }
      Value real = writer_.Make(Op::Sub, {writer_.Make(Op::Mul, {a.real, b.real}),
                                          writer_.Make(Op::Mul, {a.imaginary, b.imaginary})});
      return {real, writer_.Make(Op::Add, {writer_.Make(Op::Mul, {a.real, b.imaginary}),
                                           writer_.Make(Op::Mul, {a.imaginary, b.real})})};
    }
    case clang::BO_Div:
      if (b.imaginary.Valid()) return Quotient(a, b);
      return {writer_.Make(Op::Div, {a.real, b.real}), writer_.Make(Op::Div, {a.imaginary, b.real})};
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
    if (minus) value.real = writer_.Make(Op::Neg, {value.real});
    if (minus || conjugate) value.imaginary = writer_.Make(Op::Neg, {value.imaginary});
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
  Type type = writer_.TypeOf(z.real);
  Value zero = ZeroOf(type), half = writer_.builder().Float(type, 0.5);
  Value length = writer_.Make(
      Op::Add, {writer_.Make(Op::Hypot, {z.real, z.imaginary}), writer_.Make(Op::Abs, {z.real})});
  Value large = writer_.Make(Op::Sqrt, {writer_.Make(Op::Mul, {length, half})});
  Value small = writer_.Make(Op::Div, {writer_.Make(Op::Mul, {z.imaginary, half}), large});
  small = writer_.Make(Op::Select, {writer_.Make(Op::Eq, {large, zero}), z.imaginary, small});
  Value right = writer_.Make(Op::Ge, {z.real, zero});
  Value real = writer_.Make(Op::Select, {right, large, writer_.Make(Op::Abs, {small})});
  return {real, writer_.Make(Op::Select, {right, small, writer_.Make(Op::Copysign, {large, z.imaginary})})};
}

Complex ComplexNumbers::ComplexExp(Complex z) {
  Value e = writer_.Make(Op::Exp, {z.real});
  Value real = writer_.Make(Op::Mul, {e, writer_.Make(Op::Cos, {z.imaginary})});
  return {real, writer_.Make(Op::Mul, {e, writer_.Make(Op::Sin, {z.imaginary})})};
}

Complex ComplexNumbers::ComplexLog(Complex z) {
  Value real = writer_.Make(Op::Log, {writer_.Make(Op::Hypot, {z.real, z.imaginary})});
  return {real, writer_.Make(Op::Atan2, {z.imaginary, z.real})};
}

/// The C library's functions of complex numbers, and the compiler's that makes one of two numbers.
std::optional<Given> ComplexNumbers::CallComplex(const clang::CallExpr* call, llvm::StringRef name) {
  if (name == "complex" && call->getBuiltinCallee() != 0) {
    ObjectPtr made = NewObject(call->getType(), {}, call->getSourceRange());
    StoreComplex(made, {ValueOf(call->getArg(0)), ValueOf(call->getArg(1))}, call->getSourceRange());
    return Given{{}, made};
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
    return Given{name == "cabs" ? writer_.Make(Op::Hypot, {z.real, z.imaginary})
                                : writer_.Make(Op::Atan2, {z.imaginary, z.real}),
                 {}};
  Complex result = name == "cexp" ? ComplexExp(z) : name == "csqrt" ? ComplexRoot(z) : ComplexLog(z);
  if (power) result = ComplexExp(ComplexArithmetic(clang::BO_Mul, exponent, result, call));
  ObjectPtr object = NewObject(call->getType(), {}, range);
  StoreComplex(object, result, range);
  return Given{{}, object};
}

}  // namespace adc::frontend

// Values of expressions: numbers in registers. Operands are evaluated from left to right, of an assignment
// the right side first, as C++17 has it.

#include "frontend/cpp/expressions.h"

namespace adc::frontend {

Value Expressions::ValueOf(const clang::Expr* expression) {
  expression = expression->IgnoreParens();
  if (expression->isGLValue()) {
    const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(expression);
    if (cast != nullptr && cast->getCastKind() == clang::CK_NoOp) return ValueOf(cast->getSubExpr());
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(expression))
      return ValueOfChoice(choice);
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(expression)) {
      SetPlace(expression->getSourceRange());
      return ValueOfCall(call);
    }
    return Load(Place(expression), expression->getSourceRange());
  }
  SetPlace(expression->getSourceRange());
  return ComputedValue(expression);
}

Value Expressions::ValueOfCall(const clang::CallExpr* call) {
  Given given = Call(call);
  if (given.value.Valid()) return given.value;
  if (given.object == nullptr) Refuse(call, "a call that gives no value is used as one");
  return Load(given.object, call->getSourceRange());
}

Value Expressions::ValueOfChoice(const clang::ConditionalOperator* choice) {
  Type type = NeedRegister(choice->getType(), choice->getSourceRange());
  Value condition = Condition(choice->getCond());
  SetPlace(choice->getSourceRange());
  return writer_.Choose(
      condition, type, [&] { return ValueOf(choice->getTrueExpr()); },
      [&] { return ValueOf(choice->getFalseExpr()); });
}

Value Expressions::ComputedValue(const clang::Expr* e) {
  using clang::Stmt;
  const auto* evaluated = llvm::dyn_cast<clang::ConstantExpr>(e);
  if (evaluated != nullptr && evaluated->hasAPValueResult()) {
    if (std::optional<Value> known = ConstantValue(evaluated->getAPValueResult(), e->getType()))
      return *known;
  }
  if (const clang::Expr* written = WrittenFor(e)) return ValueOf(written);
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return ValueOfCall(call);
  switch (e->getStmtClass()) {
    case Stmt::CXXScalarValueInitExprClass:
    case Stmt::ImplicitValueInitExprClass:
      return ZeroOf(NeedRegister(e->getType(), e->getSourceRange()));
    case Stmt::MaterializeTemporaryExprClass:
      return ValueOf(llvm::cast<clang::MaterializeTemporaryExpr>(e)->getSubExpr());
    case Stmt::CXXBindTemporaryExprClass:
      return ValueOf(llvm::cast<clang::CXXBindTemporaryExpr>(e)->getSubExpr());
    case Stmt::UnaryOperatorClass:
      return ValueOfUnary(llvm::cast<clang::UnaryOperator>(e));
    case Stmt::BinaryOperatorClass:
      return ValueOfBinary(llvm::cast<clang::BinaryOperator>(e));
    case Stmt::ConditionalOperatorClass:
      return ValueOfChoice(llvm::cast<clang::ConditionalOperator>(e));
    case Stmt::ImplicitCastExprClass:
    case Stmt::CStyleCastExprClass:
    case Stmt::CXXStaticCastExprClass:
    case Stmt::CXXFunctionalCastExprClass:
    case Stmt::BuiltinBitCastExprClass:
      return ValueOfCast(llvm::cast<clang::CastExpr>(e));
    case Stmt::CXXConstructExprClass:
    case Stmt::CXXTemporaryObjectExprClass:
      return ValueOfConstruct(llvm::cast<clang::CXXConstructExpr>(e));
    case Stmt::InitListExprClass: {
      const auto* list = llvm::cast<clang::InitListExpr>(e);
      if (list->getNumInits() == 0) return ZeroOf(NeedRegister(e->getType(), e->getSourceRange()));
      if (list->getNumInits() == 1) return ValueOf(list->getInit(0));
      break;
    }
    default:
      break;
  }
  // Literals, sizes, traits, enumerators.
  if (std::optional<Value> constant = TryConstant(e)) return *constant;
  RefuseValue(e);
}

void Expressions::RefuseValue(const clang::Expr* e) {
  using clang::Stmt;
  switch (e->getStmtClass()) {
    case Stmt::CXXThrowExprClass:
      RefuseException(e);
    case Stmt::CXXDynamicCastExprClass:
    case Stmt::CXXTypeidExprClass:
      Refuse(e, "a kernel knows no types at run time", "use a template, or an enumeration and a switch");
    case Stmt::CXXReinterpretCastExprClass:
      Refuse(e, "a kernel has no reinterpret_cast", "use std::bit_cast");
    case Stmt::StringLiteralClass:
      Refuse(e, "a kernel has no text", "adc::print and assert take it as their argument");
    default:
      break;
  }
  NeedRegister(e->getType(), e->getSourceRange());
  RefuseKind(e);
}

Value Expressions::ValueOfCast(const clang::CastExpr* cast) {
  const clang::Expr* from = cast->getSubExpr();
  switch (cast->getCastKind()) {
    case clang::CK_LValueToRValue:
      if (from->getType().isVolatileQualified()) Refuse(cast, "a kernel has no volatile variables");
      if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(from->IgnoreParens())) {
        // A constant of the file, or of a class.
        const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
        if (variable != nullptr && variable->hasGlobalStorage()) {
          if (std::optional<Value> constant = TryConstant(cast)) return *constant;
        }
      }
      return ValueOf(from);
    case clang::CK_NoOp:
    case clang::CK_ConstructorConversion:
    case clang::CK_UserDefinedConversion:
      return ValueOf(from);
    case clang::CK_IntegralCast:
    case clang::CK_IntegralToBoolean:
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingToIntegral:
    case clang::CK_FloatingCast:
    case clang::CK_FloatingToBoolean:
    case clang::CK_BooleanToSignedIntegral: {
      Type to = NeedRegister(cast->getType(), cast->getSourceRange());
      Value v = ValueOf(from);
      SetPlace(cast->getSourceRange());
      return Convert(v, to);
    }
    case clang::CK_LValueToRValueBitCast: {
      Type to = NeedRegister(cast->getType(), cast->getSourceRange());
      Value v = ValueOf(from);
      Type of = TypeOf(v);
      if (of == to) return v;
      if (!of.IsScalar() || !to.IsScalar() || of.IsBool() || to.IsBool())
        Refuse(cast,
               "std::bit_cast between '" + Spell(from->getType()) + "' and '" + Spell(cast->getType()) + "'",
               "kernels cast the bits of numbers");
      return writer_.Bitcast(v, to);
    }
    case clang::CK_PointerToBoolean:
      // assert(c && "text")
      if (llvm::isa<clang::StringLiteral>(from->IgnoreParenImpCasts())) return writer_.Bits(ir::kI1, 1);
      return writer_.Not(IsNull(AddressOf(from)));
    case clang::CK_ToVoid:
      Refuse(cast, "a cast to void is used as a value");
    default:
      break;
  }
  NeedRegister(cast->getType(), cast->getSourceRange());
  Refuse(cast, "a kernel has no conversion from '" + Spell(from->getType()) + "' to '" +
                   Spell(cast->getType()) + "'");
}

Value Expressions::ValueOfUnary(const clang::UnaryOperator* unary) {
  const clang::Expr* of = unary->getSubExpr();
  switch (unary->getOpcode()) {
    case clang::UO_Plus:
      return ValueOf(of);
    case clang::UO_Minus:
      return Operation(Op::Neg, {of}, unary->getSourceRange());
    case clang::UO_Not:
      return Operation(Op::Not, {of}, unary->getSourceRange());
    case clang::UO_Real:
    case clang::UO_Imag:
      if (!of->getType()->isAnyComplexType()) break;
      return Load(Place(unary), unary->getSourceRange());
    case clang::UO_LNot: {
      Value v = Condition(of);
      SetPlace(unary->getSourceRange());
      return writer_.Not(v);
    }
    case clang::UO_PostInc:
    case clang::UO_PostDec: {
      ObjectPtr place = Place(of);
      Value before = Load(place, unary->getSourceRange());
      Type type = TypeOf(before);
      if (!type.IsScalar() || type.IsBool()) break;
      Step(place, before, unary);
      return before;
    }
    default:
      break;
  }
  Refuse(unary, "kernels do not have this operator");
}

Value Expressions::ValueOfBinary(const clang::BinaryOperator* binary) {
  clang::BinaryOperatorKind kind = binary->getOpcode();
  if (kind == clang::BO_LAnd || kind == clang::BO_LOr) {
    Value a = Condition(binary->getLHS());
    SetPlace(binary->getSourceRange());
    bool conjunction = kind == clang::BO_LAnd;
    auto second = [&] { return Condition(binary->getRHS()); };
    auto known = [&] { return writer_.Int(ir::kI1, conjunction ? 0 : 1); };
    if (conjunction) return writer_.Choose(a, ir::kI1, second, known);
    return writer_.Choose(a, ir::kI1, known, second);
  }
  if (binary->isPtrMemOp()) Refuse(binary, "kernels do not have this operator");
  if (binary->getLHS()->getType()->isAnyPointerType() || binary->getRHS()->getType()->isAnyPointerType())
    return ComparePointers(binary);
  Value a = ValueOf(binary->getLHS());
  Value b = ValueOf(binary->getRHS());
  NeedRegister(binary->getType(), binary->getSourceRange());
  return Arithmetic(kind, a, b, binary);
}

/// A vector, a matrix, or a number in adc::diff, from its constructor's arguments.
Value Expressions::ValueOfConstruct(const clang::CXXConstructExpr* construct) {
  Type type = NeedRegister(construct->getType(), construct->getSourceRange());
  std::vector<Value> parts;
  for (const clang::Expr* argument : construct->arguments()) {
    if (llvm::isa<clang::CXXDefaultArgExpr>(argument)) continue;
    parts.push_back(ValueOf(argument));
  }
  SetPlace(construct->getSourceRange());
  if (parts.empty()) return ZeroOf(type);
  if (parts.size() == 1 && TypeOf(parts[0]) == type) return parts[0];
  if (parts.size() == 1 && !TypeOf(parts[0]).IsScalar()) {
    // From a vector or a matrix of another type or size: what fits, converted.
    Value from = parts[0];
    Type of = TypeOf(from);
    bool fits = type.IsVec() == of.IsVec() && of.rows >= type.rows && of.columns >= type.columns;
    if (!fits)
      Refuse(construct, "kernels do not know this constructor of '" + Spell(construct->getType()) + "'");
    parts.clear();
    for (uint32_t r = 0; r < type.rows; ++r) {
      for (uint32_t c = 0; c < (type.IsVec() ? 1 : type.columns); ++c)
        parts.push_back(PartOf(from, type.IsVec() ? r : r * of.columns + c));
    }
  }
  if (parts.size() == 1 && TypeOf(parts[0]).IsScalar() && type.IsVec())
    parts.assign(type.Components(), parts[0]);
  for (Value& part : parts) {
    if (TypeOf(part).IsScalar()) part = Convert(part, type.ScalarType());
  }
  bool by_rows = type.IsMat() && parts.size() == type.rows && TypeOf(parts[0]).IsVec();
  if (parts.size() != type.Components() && !by_rows)
    Refuse(construct, "kernels do not know this constructor of '" + Spell(construct->getType()) + "'");
  return Composed(type, parts);
}

}  // namespace adc::frontend

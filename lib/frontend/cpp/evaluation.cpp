#include "frontend/cpp/evaluation.h"

namespace adc::frontend {

const clang::Expr* Evaluation::WrittenFor(const clang::Expr* e) {
  if (const auto* full = llvm::dyn_cast<clang::FullExpr>(e)) return full->getSubExpr();
  if (const auto* argument = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(e))
    return argument->getReplacement();
  if (const auto* argument = llvm::dyn_cast<clang::CXXDefaultArgExpr>(e)) return argument->getExpr();
  if (const auto* initial = llvm::dyn_cast<clang::CXXDefaultInitExpr>(e)) return initial->getExpr();
  if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(e)) return opaque->getSourceExpr();
  if (const auto* made = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(e)) return made->getSemanticForm();
  const auto* comma = llvm::dyn_cast<clang::BinaryOperator>(e);
  if (comma == nullptr || comma->getOpcode() != clang::BO_Comma) return nullptr;
  Effect(comma->getLHS());
  return comma->getRHS();
}

Value Evaluation::Condition(const clang::Expr* expression) {
  Value v = ValueOf(expression);
  return TypeOf(v) == ir::kI1 ? v : Convert(v, ir::kI1);
}

std::vector<Value> Evaluation::ValuesOf(llvm::ArrayRef<const clang::Expr*> expressions) {
  std::vector<Value> values;
  for (const clang::Expr* one : expressions) values.push_back(ValueOf(one));
  return values;
}

Value Evaluation::Operation(Op op, llvm::ArrayRef<const clang::Expr*> operands, SourceRange range) {
  std::vector<Value> values = ValuesOf(operands);
  SetPlace(range);
  return writer_.Make(op, values);
}

/// The result of an expression as an object that lives as long as it is used.
ObjectPtr Evaluation::Temporary(const clang::Expr* expression, std::string_view name) {
  if (std::optional<Type> type = RegisterType(expression->getType())) {
    ObjectPtr slot = NewSlot(*type, expression->getType(), name);
    Store(slot, ValueOf(expression), expression->getSourceRange());
    return slot;
  }
  if (BufferOf(expression->getType())) return Place(expression);
  ObjectPtr object = NewObject(expression->getType(), name, expression->getSourceRange());
  Initialise(object, expression);
  return object;
}

}  // namespace adc::frontend

#pragma once
// Expressions: what they name or make (expressions.cpp), and those that are numbers (values.cpp).

#include "frontend/cpp/library.h"

namespace adc::frontend {

class Expressions : protected Library {
 protected:
  using Library::Library;

  Value ValueOf(const clang::Expr* expression) override;
  ObjectPtr Place(const clang::Expr* expression) override;
  void Initialise(const ObjectPtr& object, const clang::Expr* expression) override;
  void Effect(const clang::Expr* expression) override;
  void InitialiseMember(const ObjectPtr& owner, size_t n, QualType type, const clang::Expr* init,
                        SourceRange range);
  ObjectPtr OwnerOf(const clang::Expr* e, bool pointer, const clang::CXXRecordDecl* record,
                    SourceRange range);
  ObjectPtr CopiedFrom(const clang::Expr* e);

 private:
  Value ComputedValue(const clang::Expr* expression);
  Value ValueOfChoice(const clang::ConditionalOperator* choice);
  Value ValueOfCall(const clang::CallExpr* call);
  [[noreturn]] void RefuseValue(const clang::Expr* e);
  Value ValueOfCast(const clang::CastExpr* cast);
  Value ValueOfUnary(const clang::UnaryOperator* unary);
  Value ValueOfBinary(const clang::BinaryOperator* binary);
  Value ValueOfConstruct(const clang::CXXConstructExpr* construct);
  ObjectPtr PlaceOfVariable(const clang::DeclRefExpr* reference);
  ObjectPtr PlaceOfMember(const clang::MemberExpr* member);
  ObjectPtr PlaceOfStep(const clang::UnaryOperator* step);
  void Step(const ObjectPtr& place, Value before, const clang::UnaryOperator* step);
  ObjectPtr PlaceOfAssignment(const clang::BinaryOperator* assignment);
  ObjectPtr PlaceOfCast(const clang::CastExpr* cast);
  ObjectPtr PlaceOfCall(const clang::CallExpr* call);
  ObjectPtr PlaceOfChoice(const clang::ConditionalOperator* choice);
  void InitialiseMembers(const ObjectPtr& object, llvm::ArrayRef<clang::Expr*> values, SourceRange range);
  void InitialiseArray(const ObjectPtr& object, const clang::InitListExpr* list);
  void InitialiseByList(const ObjectPtr& object, const clang::InitListExpr* list);
  void Construct(const ObjectPtr& object, const clang::CXXConstructExpr* construct);
  void MakeClosure(const ObjectPtr& object, const clang::LambdaExpr* lambda);
};

}  // namespace adc::frontend

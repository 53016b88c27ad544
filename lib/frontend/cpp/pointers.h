#pragma once
// Expressions whose values are pointers.

#include "frontend/cpp/globals.h"

namespace adc::frontend {

class Pointers : protected Globals {
 protected:
  using Globals::Globals;

  ObjectPtr Captured(const clang::ValueDecl* variable, SourceRange range);
  ObjectPtr Pointee(const clang::Expr* pointer);
  static bool ChangesClass(clang::CastKind kind) {
    return kind == clang::CK_DerivedToBase || kind == clang::CK_UncheckedDerivedToBase ||
           kind == clang::CK_BaseToDerived;
  }
  ObjectPtr SeenAsClass(const ObjectPtr& object, const clang::CastExpr* cast, SourceRange range);
  Address AddressOf(const clang::Expr* pointer);
  Address AddressOfNew(const clang::CXXNewExpr* made);
  Address AddressOfPlace(const clang::Expr* place);
  ObjectPtr AssignPointer(const clang::BinaryOperator* assignment);
  void StepPointer(const ObjectPtr& pointer, const clang::UnaryOperator* step);
  void MoveMemory(const clang::CallExpr* call, bool sets);
  Value ComparePointers(const clang::BinaryOperator* binary);

 private:
  [[noreturn]] void RefusePointer(const clang::Expr* pointer);
  Address AddressOfCast(const clang::CastExpr* cast);
  Address AddressOfSum(const clang::BinaryOperator* sum);
  Address AddressOfChoice(const clang::ConditionalOperator* choice);
};

}  // namespace adc::frontend

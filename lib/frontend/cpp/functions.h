#pragma once
// Functions. A body is lowered where it is called, its parameters bound to values and objects.

#include "frontend/cpp/statements.h"

namespace adc::frontend {

class Functions : protected Statements {
 protected:
  using Statements::Statements;

  const clang::FunctionDecl* BodyOf(const clang::FunctionDecl* function, SourceRange call);
  Given Inline(const clang::FunctionDecl* function, ObjectPtr self,
               llvm::ArrayRef<const clang::Expr*> arguments, SourceRange call, bool right_first = false,
               const std::function<ObjectPtr()>& self_last = {});
  Given RunBody(Frame& frame, const clang::Stmt* body, const clang::CXXConstructorDecl* constructor);
  Given CallFunction(const clang::FunctionDecl* function, llvm::ArrayRef<const clang::Expr*> arguments,
                     SourceRange call);

 private:
  void RunConstructor(const clang::CXXConstructorDecl* constructor, const ObjectPtr& object,
                      llvm::ArrayRef<const clang::Expr*> arguments, SourceRange call) override {
    Inline(constructor, object, arguments, call);
  }
  ObjectPtr ParameterOf(const clang::ParmVarDecl* parameter, const clang::Expr* argument);
  void RunInitialisers(const clang::CXXConstructorDecl* constructor);
};

}  // namespace adc::frontend

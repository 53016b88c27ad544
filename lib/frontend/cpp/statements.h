#pragma once
// Statements, loops (loops.cpp) and functions (functions.cpp). A body is lowered where it is called, its
// parameters bound to values and objects.

#include "frontend/cpp/expressions.h"

namespace adc::frontend {

class Statements : protected Expressions {
 protected:
  using Expressions::Expressions;

  void Statement(const clang::Stmt* statement);
  void DeclareVariable(const clang::VarDecl* variable) override;
  const clang::FunctionDecl* BodyOf(const clang::FunctionDecl* function, SourceRange call);
  /// `self` gives the object of a member function: before the arguments, or after them if `right_first`,
  /// which are evaluated from the last to the first then.
  Given Inline(const clang::FunctionDecl* function, const std::function<ObjectPtr()>& self,
               llvm::ArrayRef<const clang::Expr*> arguments, SourceRange call, bool right_first = false);
  Given RunBody(Frame& frame, const clang::Stmt* body, const clang::CXXConstructorDecl* constructor);
  Given CallFunction(const clang::FunctionDecl* function, llvm::ArrayRef<const clang::Expr*> arguments,
                     SourceRange call);

 private:
  void RunConstructor(const clang::CXXConstructorDecl* constructor, const ObjectPtr& object,
                      llvm::ArrayRef<const clang::Expr*> arguments, SourceRange call) override {
    Inline(constructor, [&] { return object; }, arguments, call);
  }
  ObjectPtr ParameterOf(const clang::ParmVarDecl* parameter, const clang::Expr* argument);
  void RunInitialisers(const clang::CXXConstructorDecl* constructor);
  ObjectPtr FromInitial(const clang::VarDecl* variable, const clang::Expr* init, SourceRange range);
  ObjectPtr ChosenPlace(const Frame& frame, SourceRange range);
  void RunIf(const clang::IfStmt* branch);
  void RunSwitch(const clang::SwitchStmt* choice);
  void Declare(const clang::Decl* declaration);
  void Return(const clang::ReturnStmt* statement);
  [[noreturn]] void RefuseReference(SourceRange range);
  void ReturnReference(const clang::ReturnStmt* statement);
  void ForLoop(const clang::ForStmt* loop);
  void WhileForm(const clang::VarDecl* variable, const clang::Expr* condition, const clang::Expr* step,
                 const clang::Stmt* body, const clang::Stmt* first = nullptr);
  void DoLoop(const clang::DoStmt* loop);
  void RangeLoop(const clang::CXXForRangeStmt* loop);
  void LoopBody(const clang::Stmt* body);
  void CloseLoop();
  void LeaveLoop(bool breaks, const clang::Stmt* at);
};

}  // namespace adc::frontend

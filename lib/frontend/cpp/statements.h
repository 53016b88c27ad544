#pragma once
// Statements, and loops (loops.cpp).

#include "frontend/cpp/expressions.h"

namespace adc::frontend {

class Statements : protected Expressions {
 protected:
  using Expressions::Expressions;

  void Statement(const clang::Stmt* statement);
  void DeclareVariable(const clang::VarDecl* variable) override;
  ObjectPtr FromInitial(const clang::VarDecl* variable, const clang::Expr* init, SourceRange range);
  ObjectPtr ChosenPlace(const Frame& frame, SourceRange range);

  struct OpenLoop {
    std::function<void()> at_continue;  ///< run before the iteration ends
    int64_t checkpoint = -1;
  };
  struct OpenSwitch {
    size_t scope, loops;
  };
  std::vector<OpenLoop> loops_;       ///< of this frame
  std::vector<OpenSwitch> switches_;  ///< of this frame

 private:
  void RunIf(const clang::IfStmt* branch);
  void RunSwitch(const clang::SwitchStmt* choice);
  void Declare(const clang::Decl* declaration);
  void NameCells(const clang::VarDecl* variable, const ObjectPtr& object);
  void Return(const clang::ReturnStmt* statement);
  void ReturnReference(const clang::ReturnStmt* statement);
  void Loop(const clang::Stmt* statement);
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

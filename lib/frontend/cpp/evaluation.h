#pragma once
// The functions by which a lower part asks for the lowering of an expression, a call or a declaration. They
// are the only way upward: the parts that override them come later.

#include "frontend/cpp/memory.h"

namespace adc::frontend {

/// The result of a call: a number, vector or matrix, or an object, or nothing.
struct Given {
  Given() = default;
  Given(Value number) : value(number) {}
  Given(ObjectPtr whole) : object(std::move(whole)) {}

  Value value;
  ObjectPtr object;
};

class Evaluation : protected Memory {
 protected:
  using Memory::Memory;

  virtual Value ValueOf(const clang::Expr* expression) = 0;
  virtual ObjectPtr Place(const clang::Expr* expression) = 0;
  virtual void Initialise(const ObjectPtr& object, const clang::Expr* expression) = 0;
  virtual void Effect(const clang::Expr* expression) = 0;
  virtual void DeclareVariable(const clang::VarDecl* variable) = 0;
  virtual void RunConstructor(const clang::CXXConstructorDecl* constructor, const ObjectPtr& object,
                              llvm::ArrayRef<const clang::Expr*> arguments, SourceRange call) = 0;
  virtual Given Call(const clang::CallExpr* call) = 0;

  /// The expression that `e` stands for where Clang's tree holds it in place of the written one: a constant
  /// or a whole expression with its temporaries, an argument of a template, a default, a value of another
  /// expression. Of a comma, whose left side is evaluated here, the right side. Null: none of these.
  const clang::Expr* WrittenFor(const clang::Expr* e);
  Value Condition(const clang::Expr* expression);
  std::vector<Value> ValuesOf(llvm::ArrayRef<const clang::Expr*> expressions);
  /// The operation on the values of these expressions.
  Value Operation(Op op, llvm::ArrayRef<const clang::Expr*> operands, SourceRange range);
  ObjectPtr Temporary(const clang::Expr* expression, std::string_view name = {});
};

}  // namespace adc::frontend

#pragma once
// The names of adc/kernel.hpp, and of adc/blocks.hpp (blocks.cpp).

#include "frontend/cpp/statements.h"

namespace adc::frontend {

class Contract : protected Statements {
 protected:
  using Statements::Statements;

  std::optional<Given> CallContract(const clang::CallExpr* call, const clang::FunctionDecl* function,
                                    llvm::ArrayRef<const clang::Expr*> arguments);
  std::optional<Given> CallMember(const clang::CallExpr* call, const clang::CXXMethodDecl* method,
                                  const clang::Expr* object, llvm::ArrayRef<const clang::Expr*> arguments);
  static bool IsBlock(QualType type) { return ContractTemplate(type, "block") != nullptr; }

 private:
  struct OpenBlock {
    std::vector<Value> groups;
    Value thread;
    std::vector<int64_t> sizes;
    ir::Block body;
    size_t scopes = 0;  ///< around
  };

  std::optional<Given> CallOperator(const clang::FunctionDecl* function,
                                    llvm::ArrayRef<const clang::Expr*> arguments, const clang::Expr* at);
  ObjectPtr WithoutGradient(const clang::Expr* expression, SourceRange range);
  Given Parallel(llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call);
  void CheckOutside(const clang::CallExpr* call, const char* word);
  std::vector<Value> BoundsOf(llvm::ArrayRef<const clang::Expr*> extents);
  const clang::FunctionDecl* BodyOfLambda(const clang::Expr* closure, unsigned parameters, SourceRange call);
  ir::Inst RunParallel(const char* word, std::span<const Value> bounds, const ObjectPtr& closure,
                       const clang::FunctionDecl* body,
                       const std::function<void(Frame&, std::span<const Value>)>& bind);
  Given Atomic(Op op, llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call);
  Given Print(llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr* call);
  Given Blocks(const clang::FunctionDecl* function, llvm::ArrayRef<const clang::Expr*> arguments,
               const clang::CallExpr* call);
  Given CallBlock(const clang::CallExpr* call, llvm::StringRef name,
                  llvm::ArrayRef<const clang::Expr*> arguments);
  Value ThreadAlong(size_t axis);
  ObjectPtr SharedCells(QualType type, SourceRange range);
  bool IsShared(Value array) const;

  std::optional<OpenBlock> block_;
};

}  // namespace adc::frontend

#pragma once
// Calls of the C++ and C library's functions that are operations of the IR.

#include "frontend/cpp/library_functions.h"
#include "frontend/cpp/pointers.h"

namespace adc::frontend {

class Library : protected Pointers {
 protected:
  using Pointers::Pointers;

  std::optional<Given> CallLibrary(const clang::CallExpr* call, const clang::FunctionDecl* function,
                                   llvm::ArrayRef<const clang::Expr*> arguments);
  ObjectPtr ExtremeByReference(const clang::CallExpr* call);
  bool AssertOf(const clang::Expr* expression);

 private:
  std::optional<Given> CallOnObjects(const clang::CallExpr* call, llvm::StringRef name, From from,
                                     llvm::ArrayRef<const clang::Expr*> arguments);
  std::optional<Value> CallOnNumbers(const clang::CallExpr* call, llvm::StringRef name, From from,
                                     llvm::ArrayRef<const clang::Expr*> arguments, Type result);
  Value BitCast(const clang::CallExpr* call, const clang::Expr* argument, Type to);
  std::optional<Value> ExtremeOfList(const clang::Expr* list, Op op, SourceRange range);
};

}  // namespace adc::frontend

#pragma once
// Variables outside of the kernel: constants, and those that nothing in the file changes.

#include "frontend/cpp/complex.h"

namespace adc::frontend {

class Globals : protected ComplexNumbers {
 protected:
  using ComplexNumbers::ComplexNumbers;

  ObjectPtr FromConstant(const clang::APValue& value, QualType type, SourceRange range);
  bool IsConstant(const clang::VarDecl* variable);
  ObjectPtr PlaceOfGlobal(const clang::VarDecl* variable, SourceRange range);

 private:
  void Fill(const ObjectPtr& to, const clang::APValue& from, QualType type, SourceRange range);
  ObjectPtr MadeConstant(const clang::VarDecl* variable, const clang::Expr* init, SourceRange range);

  std::set<const clang::VarDecl*> making_;  ///< constants whose initialisers are being run
};

}  // namespace adc::frontend

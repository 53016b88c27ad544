#pragma once
// Complex numbers, by which the C++ library defines std::complex: arrays of two numbers, with arithmetic.

#include "frontend/cpp/evaluation.h"

namespace adc::frontend {

struct Complex {
  Value real, imaginary;  ///< imaginary: invalid of a real number
};

class ComplexNumbers : protected Evaluation {
 protected:
  using Evaluation::Evaluation;

  void StoreComplex(const ObjectPtr& object, Complex value, SourceRange range);
  bool InitialiseComplex(const ObjectPtr& object, const clang::Expr* expression);
  ObjectPtr AssignComplex(const clang::CompoundAssignOperator* assignment);
  std::optional<Given> CallComplex(const clang::CallExpr* call, llvm::StringRef name);

 private:
  Complex ComplexOf(const clang::Expr* expression);
  Complex ComplexIn(const ObjectPtr& object, SourceRange range);
  Complex ComplexArithmetic(clang::BinaryOperatorKind kind, Complex a, Complex b, const clang::Expr* at);
  Complex Quotient(Complex a, Complex b);
  Complex ComplexRoot(Complex z);
  Complex ComplexExp(Complex z);
  Complex ComplexLog(Complex z);
};

}  // namespace adc::frontend

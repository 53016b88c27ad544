#pragma once
// One kernel, or one function with a derivative of its own, from Clang's tree to the IR. Each part is a class
// over the one before, and calls nothing of those that follow but by evaluation.h:
//
//   Context, Numbers, Objects, Addresses, Memory      nothing of Clang's expressions
//   Evaluation                                        the functions that lead upward
//   ComplexNumbers, Globals, Pointers, Library        expressions of one kind
//   Expressions, Statements, Contract                 the tree
//
// Functions are lowered where they are called. A construct without a lowering is refused at its place: a
// Refusal leaves the kernel, and the next one is tried.

#include "frontend/cpp/contract.h"

namespace adc::frontend {

class Lowering final : protected Contract {
 public:
  Lowering(Shared& shared, ir::Function& function) : Contract(shared, function) {}

  /// Parameters and body of a kernel.
  void Kernel(const clang::FunctionDecl* declaration);
  /// Those of a function that calls are made to.
  void NamedFunction(const clang::FunctionDecl* declaration);

 private:
  ObjectPtr Parameter(QualType type, const std::string& name, const ir::ParamInfo& marks, SourceRange range);
  ObjectPtr NumberParameter(Type type, QualType cpp, const std::string& name, const ir::ParamInfo& info);
  ObjectPtr BufferParameter(QualType type, Type element, uint32_t rank, const std::string& name,
                            const ir::ParamInfo& info);
  Given Call(const clang::CallExpr* call) override;
};

}  // namespace adc::frontend

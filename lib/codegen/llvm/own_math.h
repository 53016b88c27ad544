#pragma once
// Our own elementary functions (codegen/common/math_functions.h) as functions of an LLVM module, of numbers
// and of vectors.
//
// Each lane of a vector gets the bits that a number alone gets: both are made from one text, operation by
// operation, only the operations that the text fuses are fused, and without an instruction for fma its
// product is rounded in both.

#include "codegen/llvm/lane_flow.h"

namespace adc::codegen {

/// Whether the target has an instruction for fma.
bool HasFma(const target::Target& target);

class OwnMath {
 public:
  explicit OwnMath(llvm::Module& module) : module_(module) {}

  /// Calls the function of `op` on `scalar`, f32 or f64, with operands in lanes of `shape`.
  llvm::Value* Call(llvm::IRBuilder<>& builder, TargetHooks& hooks, LaneShape shape, ir::Op op,
                    ir::Scalar scalar, llvm::ArrayRef<llvm::Value*> operands);
  /// Once all calls are emitted, on a CPU: those of vectors with few calls are inlined.
  void Finish();
  /// The same on a device: a function is inlined where its caller has few calls, or where the target has
  /// none.
  void FinishOnDevice();
  /// Those made so far, the rare sides of branches among them.
  const std::vector<llvm::Function*>& functions() const { return made_; }

 private:
  llvm::Function* Make(llvm::IRBuilder<>& builder, TargetHooks& hooks, LaneShape shape,
                       const ir::Function& text, const std::string& name,
                       llvm::ArrayRef<llvm::Value*> operands);

  llvm::Module& module_;
  std::vector<llvm::Function*> made_;
};

}  // namespace adc::codegen

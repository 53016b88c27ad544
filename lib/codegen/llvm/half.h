#pragma once
// f16 where the target cannot convert it: bit arithmetic, so that no helper library is needed.
//
// A register of type f16 is an LLVM `half`. Arithmetic is done in f32 and rounded back, which gives the
// correctly rounded f16 result of one addition, subtraction, multiplication, division or square root.

#include "llvm/IR/IRBuilder.h"

namespace adc::codegen {

class HalfConversion {
 public:
  /// `native`: conversions between f16 and f32 are instructions.
  HalfConversion(llvm::IRBuilder<>& builder, bool native) : builder_(builder), native_(native) {}

  llvm::Value* ToFloat(llvm::Value* half);
  llvm::Value* FromFloat(llvm::Value* single);
  /// Rounds once.
  llvm::Value* FromDouble(llvm::Value* wide);

 private:
  llvm::Function* Helper(const char* name, llvm::Type* result, llvm::Type* operand,
                         llvm::Value* (*body)(llvm::IRBuilder<>&, llvm::Value*));
  llvm::IRBuilder<>& builder_;
  bool native_;
};

}  // namespace adc::codegen

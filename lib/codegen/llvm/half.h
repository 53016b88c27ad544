#pragma once
// f16: arithmetic is done in f32 and rounded back, which gives the correctly rounded f16 result of one
// addition, subtraction, multiplication, division or square root.
//
// A register of type f16 is an LLVM `half` where the target converts it to f32 and back by an instruction.
// Elsewhere it is its bits, an i16, and conversions are bit arithmetic: LLVM would select library calls for
// whatever touches a `half` there, a `select` included.

#include "ir/type.h"
#include "llvm/IR/IRBuilder.h"
#include "target/target.h"

namespace adc::codegen {

/// The type of a register of `scalar`.
llvm::Type* RegisterTypeOf(llvm::IRBuilder<>& builder, const target::Target& target, ir::Scalar scalar);

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

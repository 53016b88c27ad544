#pragma once
// Scalar operations as LLVM instructions: every operation on registers that the table names, for every type.
//
// No operation traps and none is undefined: a divisor that would trap is replaced before the division, shift
// amounts are taken modulo the width, conversions saturate. f16 computes in f32 and is rounded after each
// operation. i1 is a byte in memory and an i1 in a register.

#include "codegen/common/config.h"
#include "codegen/llvm/half.h"
#include "codegen/llvm/hooks.h"

namespace adc::codegen {

class ScalarEmitter {
 public:
  /// `lanes`: operands and results are vectors of this many, each lane computed as it would be alone; 0: they
  /// are not. Lanes have no f16 and call no functions.
  ScalarEmitter(llvm::IRBuilder<>& builder, TargetHooks& hooks, FloatMode mode, uint32_t lanes = 0);

  llvm::Type* RegisterType(ir::Scalar scalar) const;
  llvm::Type* MemoryType(ir::Scalar scalar) const;
  /// A constant from its bits, as ir::ConstantData keeps them.
  llvm::Constant* Constant(ir::Scalar scalar, uint64_t bits) const;
  /// The same as it lies in memory.
  llvm::Constant* MemoryConstant(ir::Scalar scalar, uint64_t bits) const;
  llvm::Value* ToMemory(ir::Scalar scalar, llvm::Value* value);
  llvm::Value* FromMemory(ir::Scalar scalar, llvm::Value* value);

  /// A pure operation on scalars. `operand`: the type of its first operand but for select, where it is that
  /// of the second; `result`: its result type. `words`: of the operation.
  llvm::Value* Emit(ir::Op op, ir::Scalar operand, ir::Scalar result, llvm::ArrayRef<llvm::Value*> operands,
                    ir::Words words = {});

 private:
  llvm::Value* Unary(ir::Op op, ir::Scalar scalar, llvm::Value* a, ir::Words words);
  llvm::Value* UnaryInteger(ir::Op op, ir::Scalar scalar, llvm::Value* a);
  llvm::Value* UnaryFloat(ir::Op op, ir::Scalar scalar, llvm::Value* a, ir::Words words);
  llvm::Value* RoundToEven(llvm::Value* a);
  llvm::Value* Binary(ir::Op op, ir::Scalar scalar, llvm::Value* a, llvm::Value* b, ir::Words words);
  llvm::Value* BinaryInteger(ir::Op op, ir::Scalar scalar, llvm::Value* a, llvm::Value* b, bool no_wrap);
  llvm::Value* BinaryFloat(ir::Op op, ir::Scalar scalar, llvm::Value* a, llvm::Value* b, ir::Words words);
  llvm::Value* Divide(ir::Op op, ir::Scalar scalar, llvm::Value* a, llvm::Value* b);
  llvm::Value* Compare(ir::Op op, ir::Scalar scalar, llvm::Value* a, llvm::Value* b);
  llvm::Value* Convert(ir::Scalar from, ir::Scalar to, llvm::Value* a);
  llvm::Value* Reinterpret(ir::Scalar from, ir::Scalar to, llvm::Value* a);

  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  HalfConversion half_;
  uint32_t lanes_;
};

}  // namespace adc::codegen

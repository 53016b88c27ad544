#pragma once
// Vectors of lanes and masks over them, as LLVM IR. With 0 lanes there is one, of scalars, and a mask is an
// i1.

#include "codegen/llvm/blocks.h"

namespace adc::codegen {

/// How the lanes of a target are.
struct LaneShape {
  uint32_t count = 0;      ///< 0: scalars
  bool fuses = false;      ///< fma is an instruction
  bool has_masks = false;  ///< masks have registers of their own, one bit a lane
  bool outlines = false;   ///< of functions of our own: long sides of branches are functions of their own
};

class LaneVectors {
 protected:
  using Value = llvm::Value;

  LaneVectors(llvm::IRBuilder<>& builder, LaneShape shape) : builder_(builder), shape_(shape) {}

  llvm::Type* InLanes(llvm::Type* type) const;
  Value* Splat(Value* number);
  /// 0, 1, 2, ... in lanes.
  Value* LaneNumbers(llvm::Type* type);
  /// i1: whether any lane of a mask is on, which may be numbers.
  Value* Any(Value* mask);
  /// Of signed integers.
  Value* Greatest(Value* lanes);
  /// A mask as a loop carries it. Where masks live in ordinary registers it is numbers of `bits`, 0 or -1.
  Value* ToNumbers(Value* mask, uint32_t bits);
  Value* FromNumbers(Value* mask);

  llvm::IRBuilder<>& builder_;
  LaneShape shape_;
};

}  // namespace adc::codegen

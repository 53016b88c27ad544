#pragma once
// A thread's flat iteration as one digit per axis of its loop.

#include <vector>

#include "codegen/llvm/axes.h"

namespace adc::codegen {

/// Emitted in this order: Start, Enter, (the body, which asks for Digit,) Advance.
class IterationDigits {
 public:
  /// `axes`: of the loop, outermost first, and at least two.
  IterationDigits(llvm::IRBuilder<>& builder, const std::vector<Axis>& axes);

  /// Splits the first iteration, `thread`, and the distance to the next, `threads`, where there is a next one
  /// among `iterations`. All i64; `thread` < `iterations`.
  void Start(llvm::Value* thread, llvm::Value* threads, llvm::Value* iterations);
  /// Begins the loop's block, which `before` leads to.
  void Enter(llvm::BasicBlock* before);
  /// Instead of all of these: splits `iteration`, i64, where the builder is.
  void SplitHere(llvm::Value* iteration);
  /// Digit of axis `axis` of the current iteration, i64.
  llvm::Value* Digit(size_t axis) const { return wide_[axis]; }
  /// Goes on to the next iteration, from the block that the builder is in.
  void Advance();

 private:
  struct Place {
    bool narrow = false;  ///< the digit and its sums are 32 bits wide
    llvm::Type* type = nullptr;
    llvm::Value* extent = nullptr;  ///< of that type
    llvm::Value* start = nullptr;
    llvm::Value* stride = nullptr;
    llvm::PHINode* digit = nullptr;
  };

  std::vector<llvm::Value*> Split(llvm::Value* number);
  std::vector<llvm::Value*> SplitIn(llvm::Type* type, llvm::Value* number);

  llvm::IRBuilder<>& builder_;
  const std::vector<Axis>& axes_;
  std::vector<Place> places_;
  std::vector<llvm::Value*> wide_;
};

}  // namespace adc::codegen

#pragma once
// Loops of 64 bits that a word can count.

#include "ir/function.h"

namespace adc::codegen::spirv {

/// Loops by ones between words, constants and casts of u32, whose index is only cast to words: counted in 32
/// bits they ask for no integers of 64.
class NarrowLoops {
 public:
  explicit NarrowLoops(const ir::Function& function);

  bool Has(ir::Inst loop) const { return loops_.Has(loop); }
  /// Whether `cast` reads the index of such a loop, which is a u32 then.
  bool IsOfIndex(ir::Inst cast) const { return of_index_.Has(cast); }
  /// Whether `cast` only makes bounds of such loops.
  bool IsOfBounds(ir::Inst cast) const { return of_bounds_.Has(cast); }

 private:
  IndexSet<ir::Inst> loops_, of_index_, of_bounds_;
};

/// The u32 that a cast to i64 makes its number of; invalid where `v` is none.
ir::Value WordOf(const ir::Function& function, ir::Value v);

}  // namespace adc::codegen::spirv

#pragma once
// HalfSelects: an LLVM pass for processors that convert f16, and compute nothing in it.
//
// A `select` of two `half` that picks the larger or smaller one of what its condition compares is taken for a
// maximum when instructions are selected, which x86-64 without AVX512-FP16 promotes to f32 and then calls
// `fmaxf` for. No image may import that, and a call is not what a comparison should cost. The bits are chosen
// instead:
//
//   select %c, half %a, half %b    ->    bitcast (select %c, i16 (bitcast %a), i16 (bitcast %b)) to half
//
// Such selects come from `min`, `max` and `clamp` of f16, and from those of f32 around conversions, which the
// optimiser narrows: so they are looked for after it.
//
// Requires: nothing runs between it and the selection of instructions. Guarantees: the same results, and no
// select of `half`. Breaks: nothing.

#include "llvm/IR/PassManager.h"

namespace adc::codegen {

struct HalfSelects : llvm::PassInfoMixin<HalfSelects> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace adc::codegen

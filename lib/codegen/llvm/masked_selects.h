#pragma once
// MaskedSelects: an LLVM pass for x86-64 without AVX-512, which has no instruction that chooses a float by a
// bit.
//
//   select %c, float %a, float 0.0    ->    bitcast (and (bitcast %a to i32), %m) to float
//                                           %m = sext %c to i32, where %c is made
//
// Where the condition is not a comparison beside it, instructions are selected with a branch for each select.
// Gradients hold hundreds that guard: what a branch of the kernel did not compute has no adjoint, and a
// product with it is 0, whatever the other factor. The branches miss where data decide, and doubled the time
// of allocating registers.
//
// A select that becomes an extremum, or a comparison with a mask, stays. So does one of two values, whose
// two masks cost more than a branch that is predicted.
//
// Requires: nothing runs between it and the selection of instructions. Guarantees: the same results, to the
// bit. Breaks: nothing.

#include "llvm/IR/PassManager.h"

namespace adc::codegen {

struct MaskedSelects : llvm::PassInfoMixin<MaskedSelects> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace adc::codegen

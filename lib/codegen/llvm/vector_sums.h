#pragma once
// Atomic sums into neighbouring cells of f32 as one instruction, where the target has one for vectors.
//
// The instruction wants an address that is aligned to the whole vector, and a buffer is aligned to its
// scalars for sure. So the code asks: all threads come to the same answer where elements are as large as the
// vector. Of three cells in a row at any address, either the first two or the last two are aligned to eight
// bytes.

#include "codegen/llvm/gpu_dialect.h"
#include "target/target.h"

namespace adc::codegen {

/// Joins the sums of a module that has been optimised. Nothing where `dialect` does not add vectors.
void JoinVectorSums(llvm::Module& module, const GpuDialect& dialect, const target::Target& target);

}  // namespace adc::codegen

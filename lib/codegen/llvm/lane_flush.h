#pragma once
// The function that adds up the values of the lanes that come to one cell, for any lanes, and updates it
// once.

#include "codegen/llvm/gpu_dialect.h"
#include "ir/type.h"
#include "target/target.h"

namespace adc::codegen {

/// Cells of one type, one after the other.
struct LaneCells {
  ir::Scalar scalar = ir::Scalar::F32;
  uint32_t count = 1;
  llvm::Type* type = nullptr;     ///< of a sum: that of a register; f32 where the cell is f16
  llvm::Type* pointer = nullptr;  ///< of the first cell's address
  llvm::SyncScope::ID scope = llvm::SyncScope::System;
};

/// adc.flush.<type>.<count>(address, values): adds the values of the lanes that are here to their cells,
/// which lie one after the other from `address` on.
llvm::Function* FlushFunction(llvm::Module& module, const GpuDialect& wave, const target::Target& target,
                              const LaneCells& cells);

}  // namespace adc::codegen

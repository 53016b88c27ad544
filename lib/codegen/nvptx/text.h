#pragma once
// The text of LLVM's back end for NVIDIA's devices, for modules of any size.

#include <cstdint>
#include <vector>

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace adc::codegen {

/// PTX, which is what a driver takes. The same module gives the same text.
std::vector<uint8_t> MakePtx(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace adc::codegen

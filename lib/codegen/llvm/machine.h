#pragma once
// From an LLVM module to an object: the machine of a target, the optimiser, the object file.
//
// The pipeline is short because the input is tidy: adc's own passes have folded, hoisted and eliminated
// already, so LLVM only has to choose registers, addresses, vectors and instructions.

#include <memory>
#include <span>
#include <vector>

#include "codegen/common/config.h"
#include "diag/result.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "target/target.h"

namespace adc::codegen {

/// A machine for position-independent code. `optimise`: 0 to 3.
std::unique_ptr<llvm::TargetMachine> MakeMachine(const target::Target& target, uint32_t optimise,
                                                 FloatMode mode);

/// Runs the optimiser at a level 0 to 3. `imports`: the only library functions that may be called; nothing is
/// turned into a call of another.
void Optimise(llvm::Module& module, llvm::TargetMachine& machine, uint32_t optimise,
              std::span<const char* const> imports);

/// The bytes of an object file.
diag::Result<std::vector<uint8_t>> MakeObject(llvm::Module& module, llvm::TargetMachine& machine,
                                              std::span<const char* const> imports);

/// Names that `object` needs from elsewhere, sorted.
std::vector<std::string> UndefinedSymbols(std::span<const uint8_t> object);

}  // namespace adc::codegen

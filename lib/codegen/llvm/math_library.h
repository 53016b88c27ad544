#pragma once
// Mathematical functions of devices, out of a library in LLVM bitcode.
//
// Devices have no libm. Two libraries are known: libclc, which comes with LLVM and is what builds use unless
// told otherwise, so that the bytes of a bundle do not depend on what else is installed; and NVIDIA's
// libdevice, which is faster and is taken where a file is named (--libdevice=FILE).
//
//   MathLibrary library = MathLibraryOf(target, config.libdevice);
//   llvm::Value* y = EmitMath(builder, library, ir::Op::Sin, ir::Scalar::F32, {x});   declares, calls
//   diag::Status linked = LinkMath(module, library, target);                          brings in what
//                                                                                     is called
//
// Requires of LinkMath: a module with the triple and data layout of the target, before the optimiser runs.
// Guarantees: each function that EmitMath declared has a body of internal linkage, for the processor of the
// target, of at most 3 ulp of error in f32 and 2 ulp in f64; nothing else of the library is in the module, no
// flags and no versions of its compiler. Results of f32 exp, exp2 and rem below the smallest normal number
// may be zero. Breaks: nothing.

#include <string>
#include <utility>

#include "codegen/llvm/hooks.h"
#include "diag/result.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace adc::codegen {

struct MathLibrary {
  enum class Names : uint8_t {
    OpenCl,     ///< libclc: `_Z3sinf`, `_Z3sind`
    Libdevice,  ///< `__nv_sinf`, `__nv_sin`
  };
  Names names = Names::OpenCl;
  std::string file;
};

/// The library for code of an NVIDIA or AMD target. `libdevice`: the user's file, for NVIDIA alone; empty:
/// libclc.
MathLibrary MathLibraryOf(const target::Target& target, const std::string& libdevice);

/// Calls a function of f32 or f64 that is no instruction: sin to erf, pow, atan2, float rem.
llvm::Value* EmitMath(llvm::IRBuilder<>& builder, const MathLibrary& library, ir::Op op, ir::Scalar scalar,
                      llvm::ArrayRef<llvm::Value*> operands);
/// Sine and cosine of one operand; `hooks` gives private memory where the library needs it.
std::pair<llvm::Value*, llvm::Value*> EmitSinCos(llvm::IRBuilder<>& builder, TargetHooks& hooks,
                                                 const MathLibrary& library, ir::Scalar scalar,
                                                 llvm::Value* operand);

/// Links what `module` calls. Opens no file where that is nothing. Fails where the file cannot be read, is no
/// bitcode, or lacks a function.
diag::Status LinkMath(llvm::Module& module, const MathLibrary& library, const target::Target& target);

}  // namespace adc::codegen

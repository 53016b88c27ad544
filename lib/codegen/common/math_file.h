#pragma once
// The source of the mathematical functions of a device: a file in LLVM bitcode (codegen/llvm/math_library.h).

#include <string>

#include "target/target.h"

namespace adc::codegen {

/// For code of an NVIDIA or AMD target: `libdevice`, the user's file, for NVIDIA alone; else the file of
/// libclc that is installed with adc, or the one that adc was built with. Empty for targets that read no such
/// file.
std::string MathFileOf(const target::Target& target, const std::string& libdevice);

}  // namespace adc::codegen

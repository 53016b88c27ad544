#pragma once
// Checks that a module keeps the rules of docs/ir.md. It runs on the parser's modules and, with
// --verify-each, after each pass.

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::verify {

/// Reports every broken rule; true where there is none. Linear in the module, and safe on any content: a
/// broken index of a defective pass is reported, never followed. Bodies of functions that are `broken` (their
/// text had errors) are passed over.
bool Verify(const ir::Module& module, diag::Diagnostics& diagnostics);

}  // namespace adc::verify

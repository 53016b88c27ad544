#pragma once
// Whether a module keeps the rules of docs/ir.md. Run on what the parser gives and, with --verify-each, after
// each pass.

#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::verify {

/// Reports every broken rule; true where there is none. Linear in the module, and safe on any content: what a
/// defective pass leaves is reported, never followed. Bodies of functions that are `broken` (their text had
/// errors) are passed over.
bool Verify(const ir::Module& module, diag::Diagnostics& diagnostics);

}  // namespace adc::verify

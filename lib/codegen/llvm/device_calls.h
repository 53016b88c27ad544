#pragma once
// Which functions of mathematics a device calls, and which become part of their callers.

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"

namespace adc::codegen {

/// A call makes its caller save registers, and hides from it what two functions of one operand have in
/// common; a copy is a kilobyte or two. A caller with more calls than this calls.
inline constexpr size_t kMostInlinedCalls = 24;

/// The calls of `functions` in each function that is none of them stay calls where they are too many.
/// Requires: functions of `functions` are called, nothing else. `inlines`: where they are few they are
/// inlined whatever LLVM thinks of it.
void KeepManyCalls(llvm::ArrayRef<llvm::Function*> functions, bool inlines);

}  // namespace adc::codegen

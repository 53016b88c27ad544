#pragma once
// Where the body of a large task is cut, so that no function of LLVM is large.
//
//   %a = mul %x, %y                      ->    cut %a = mul %x, %y
//   ... 500 operations ...                     ... 500 operations ...
//   store %out[%i], %b                         cut store %out[%i], %b
//
// LLVM's scheduler, its register allocator and its analyses of memory and of loops take time with the square
// of a function's size. A task beyond a limit becomes several functions, each of a bounded size, so that the
// time grows with the task (codegen/llvm/split_function.h). Blocks are cut into runs of instructions, in
// nests from the inside out: a run that holds a large loop holds the calls of that loop's own runs.

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// Requires: a kernel of a raised module, whose code is what is printed. Guarantees: a task of at most
/// `largest_function` operations has no cut; in another one a block has none, or begins with one. A body in
/// lanes, whose code is for several iterations, has none. Breaks: nothing: it only adds words.
void MarkCuts(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise

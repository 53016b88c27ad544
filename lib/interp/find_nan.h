#pragma once
// Finds the operation of a kernel that makes the first NaN.
//
// A NaN may be made and left out again (`select %p, (log %x), 0.0`), so the first one of a run says little.
// The search is for the first one that comes out: the kernel runs once, and every NaN in memory at the end
// has an origin (interp/origins.h). The run is repeated up to the oldest of these, and stops there, where all
// that the message names is there to be read. First is a matter of tasks, iterations and operations in the
// order of the text.

#include "interp/interpreter.h"
#include "interp/sweeps.h"

namespace adc::interp {

/// The operation that makes the first special value: a NaN, or an infinity where they are looked for.
struct FirstNan {
  diag::SourceSpan span;
  std::string function;             ///< that it stands in
  std::string operation;            ///< its spelling
  std::string statement;            ///< "%r = sqrt %v"
  std::vector<std::string> values;  ///< "%v = -1.0", operands in order, then the result
  /// "%x[3, 1]": it reads a special value that the kernel's argument held; empty: it computes one.
  std::string argument;
  std::vector<std::string> iteration;     ///< "%i = 3", "iteration 2 of a 'while'"; outermost loop first
  std::vector<diag::SourceSpan> callers;  ///< the calls that it runs in, innermost first
  Sweep sweep = Sweep::Kernel;
  std::string reaches;  ///< "%y[3]", an element that it reaches; empty: the kernel writes none
};

struct NanSearch {
  RunResult run;                  ///< of the whole kernel
  std::optional<FirstNan> first;  ///< of those that reach memory; where none does, of all
};

/// The goal of the search.
struct NanQuestion {
  bool infinities = false;           ///< these too
  uint32_t parameter = ir::kNoAttr;  ///< the only parameter whose memory counts as coming out; none: all
};

/// Runs `function`, a kernel before its adstacks are lowered, on `arguments`, whose memory it changes, as Run
/// does. Floats are not promoted.
NanSearch FindNan(const ir::Module& module, const ir::Function& function, Arguments& arguments,
                  const NanQuestion& question = {}, const RunOptions& options = {});

}  // namespace adc::interp

#pragma once
// One run of a compiled function.

#include "interp/machine.h"

namespace adc::interp {

/// The watch of a run, of a program whose steps watch.
struct Watch {
  Origins* origins = nullptr;
  /// Called when the run has ended, well or early, while its memory is bound.
  std::function<void(const Machine&)> at_end = {};
};

RunResult Execute(const ir::Module& module, const ir::Function& function, const RunOptions& options,
                  const Program& program, Arguments& arguments, Tangents* tangents, const Watch& watch = {});

}  // namespace adc::interp

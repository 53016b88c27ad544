#pragma once
// The steps of control: jumps, loops, parallel loops, calls, reports.

#include "interp/machine.h"

namespace adc::interp {

Step JumpStep();
/// Jumps where cell a is false.
Step JumpUnlessStep();

/// Sets counter and induction variable; jumps where there is no trip. Code::info is a LoopInfo.
Step ForBeginStep();
/// Jumps back for another trip, or goes on.
Step ForNextStep();
/// Sets the counter of a while.
Step WhileBeginStep();
/// Before the test: jumps out where the bound of trips is reached.
Step WhileLimitStep();
/// After the test: counts the trip.
Step WhileCountStep();
/// Jumps back to the test.
Step WhileNextStep();
Step WhileEndStep();

/// Sets up the iterations of a parallel loop; jumps where there are none. Code::info is a ParallelInfo.
Step ParallelBeginStep();
Step ParallelNextStep();

/// Code::info is a CallInfo.
Step CallStep();
Step ReturnStep();

/// Code::info is a ReportInfo; `a` the condition of an assert, the needed capacity of a status.raise.
Step AssertStep();
Step PrintStep();
Step StatusRaiseStep();
/// Ends the run: Code::info is a text.
Step UnsupportedStep();

}  // namespace adc::interp

#pragma once
// The steps of control: jumps, loops, parallel loops, calls, reports.

#include "interp/machine.h"

namespace adc::interp {

const Code* JumpStep(Machine& m, const Code* c);
/// Jumps where cell a is false.
const Code* JumpUnlessStep(Machine& m, const Code* c);

/// Sets counter and induction variable; jumps where there is no trip. Code::info is a LoopInfo.
const Code* ForBeginStep(Machine& m, const Code* c);
/// Jumps back for another trip, or goes on.
const Code* ForNextStep(Machine& m, const Code* c);
/// Sets the counter of a while.
const Code* WhileBeginStep(Machine& m, const Code* c);
/// Before the test: jumps out where the bound of trips is reached.
const Code* WhileLimitStep(Machine& m, const Code* c);
/// After the test: counts the trip.
const Code* WhileCountStep(Machine& m, const Code* c);
const Code* WhileEndStep(Machine& m, const Code* c);

/// Sets up the iterations of a parallel loop; jumps where there are none. Code::info is a ParallelInfo.
const Code* ParallelBeginStep(Machine& m, const Code* c);
const Code* ParallelNextStep(Machine& m, const Code* c);

/// Code::info is a CallInfo.
const Code* CallStep(Machine& m, const Code* c);
const Code* ReturnStep(Machine& m, const Code* c);

/// Code::info is a ReportInfo; `a` the condition of an assert, the needed capacity of a status.raise.
const Code* AssertStep(Machine& m, const Code* c);
const Code* PrintStep(Machine& m, const Code* c);
const Code* StatusRaiseStep(Machine& m, const Code* c);
/// Ends the run: Code::info is a text.
const Code* UnsupportedStep(Machine& m, const Code* c);

}  // namespace adc::interp

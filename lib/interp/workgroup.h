#pragma once
// Invocations of a workgroup, which wait for each other at barriers: the machine runs one until it waits or
// ends, then the next, each with registers of its own.

#include "interp/machine.h"

namespace adc::interp {

/// At the begin of a workgroup's body: its first invocation. Code::info is a ParallelInfo.
const Code* WorkgroupBeginStep(Machine& m, const Code* c);
/// At the end of the body: goes on with another invocation, from the body's begin (a jump) or where it waits;
/// to the next step where all have ended.
const Code* WorkgroupNextStep(Machine& m, const Code* c);
/// Waits for the other invocations. Does nothing outside of a workgroup.
const Code* BarrierStep(Machine& m, const Code* c);
/// As AllocaStep, of an array that the workgroup has in common.
const Code* SharedAllocaStep(Machine& m, const Code* c);

}  // namespace adc::interp

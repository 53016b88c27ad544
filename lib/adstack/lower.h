#pragma once
// LowerAdstacks: turns adstacks into plain memory, after a plan.
//
// Stacks in rows become row.claim where their gate begins, and row.load and row.store of a stack and a slot;
// private ones become local arrays. Flags are bits of 32-bit words in either (adstack/flag_words.h). A
// stack without slots gets a counter.
//
// The guard. Nothing is written outside of a row, whatever the launch gives. Where the slot is a `for`'s
// iteration number the loop's trip count is compared once, at its head: over the capacity the loop and its
// reversed twin run no iteration. A `while` compares its counter in its test and stops. Any other access
// compares its slot. status.raise reports an access that does not fit, with the capacity that would have been
// needed; where trip count and capacity are constants nothing is left of the comparison.
//
//   %r = row.claim 0   %c = row.capacity 0
//   %over = gt (cast %n to i64), %c
//   if %over { status.raise 0, 0, %n64 }
//   for %t in 0..(select %over, 0, %n) { row.store %r, 0, %t, %a ... }
//
// Requires: Phase::Differentiated; `plan` was made from this function, which is unchanged since. Guarantees:
// no stack operation is left; rows and their numbers are those of the plan. The module's phase is the
// caller's to set, once all its kernels are lowered. Breaks: all facts about the function's values and
// positions.

#include "adstack/plan.h"
#include "ir/builder.h"

namespace adc::adstack {

struct LowerConfig {
  /// Whether anything stands in front of stacks with slots. Without it a launch whose capacities are too
  /// small writes past its rows: for measuring what guards cost, and for nothing else.
  bool guards = true;
};

/// In a size kernel (role Size) what does not fit is left out instead of reported: pushes are dropped, and
/// loops that would pop what was dropped do not start. False after an error in `diagnostics`, which then has
/// the reason.
bool LowerAdstacks(ir::Module& module, ir::Function& kernel, const AdstackPlan& plan,
                   diag::Diagnostics& diagnostics, const LowerConfig& config = {});

}  // namespace adc::adstack

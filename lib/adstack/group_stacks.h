#pragma once
// Which stacks of a task lie in one claim group, and which of them take the same bytes.
//
// Stacks with the same gates form a group: a thread that needs one of their rows needs all. Stacks that never
// live at the same time take the same bytes of a row. Those of the two branches of an `if` have different
// gates, and a thread that comes to one branch and later to the other would hold two rows, one of which is
// always idle. They join one group, whose gates are those of both, as far as that never takes more: a group
// of both has at most as many rows as the two together, but each row is as long as the longer stack. So
// stacks of different gates join only where their bytes are equal in every launch, which an expression says
// that both share. (With bytes s and t, s < t, of which a and b iterations need one, joining would take up to
// (a + b) * t in place of a * s + b * t; where t is needed rarely, that is any number of times more.)
// The stacks of the rest of a branch stay in a group of their own. The one thing that can be lost: a target
// keeps some of the stacks in private memory, and the others have a row for each iteration that needs any of
// them.
//
// On a CPU nothing passes gates: each worker has one row, which holds the stacks of all groups. There any
// stacks that never live at the same time take the same bytes, those of the longest.

#include <vector>

#include "adstack/plan.h"
#include "adstack/stacks.h"

namespace adc::adstack {

/// Makes the groups of `task`, and gives each stack its group and whom it shares bytes with; `facts` are
/// those of its stacks, whose capacities are in `exprs`.
void GroupStacks(const ir::Function& kernel, const analysis::Structure& structure,
                 const artifact::SizeExprPool& exprs, const std::vector<const StackFacts*>& facts,
                 TaskPlan& task);

}  // namespace adc::adstack

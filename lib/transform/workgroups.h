#pragma once
// The invocations of a workgroup, one after the other from barrier to barrier.

#include "transform/pass.h"

namespace adc::transform {

/// A parallel loop that is marked `workgroup` becomes one over the workgroups. Its body runs each piece
/// between two barriers in a `for` over the invocations; code that all invocations run alike stands once,
/// around these loops. Memory marked `shared`, and values that an invocation has before and after a barrier,
/// lie in local arrays, the latter with an element for each invocation. An invocation that has ended is not
/// waited for.
///
/// Requires: no exits, calls inlined, registers are scalars. Guarantees: no `workgroup`, no `barrier`, no
/// `shared` is left. A barrier that invocations may come to a different number of times is an error (E0306).
bool SplitWorkgroups(ir::Module& module, FoldConfig fold, diag::Diagnostics& diagnostics);

}  // namespace adc::transform

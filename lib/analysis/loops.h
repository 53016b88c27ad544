#pragma once
// Loops: trip counts that are known at compile time, and carried values.

#include <optional>

#include "ir/builder.h"
#include "ir/function.h"

namespace adc::analysis {

/// `ceil(max(0, hi - lo) / step)` for a step above 0.
uint64_t TripsBetween(int64_t lo, int64_t hi, int64_t step);
/// The same of a `for` whose bounds and step are constants; empty otherwise.
std::optional<uint64_t> ConstantTrips(const ir::Function& function, ir::Inst loop);
/// Builds the number of the iteration of a `for` that has this index, 0 for the one at `low`: an i32 or i64
/// that is right for any bounds, also where `index - low` leaves the index's type.
ir::Value IterationNumber(ir::Builder& builder, ir::Value index, ir::Value low, ir::Value step);
/// True when the body of a `for` or `parallel` provably runs at least once. For a `while`: its condition
/// region, which always does, but for a `max` of 0: a bounded while ends before it asks once more than `max`
/// times.
bool RunsAtLeastOnce(const ir::Function& function, ir::Inst loop);
/// The loop marked `steps` in the body of `loop`, which runs over segments then; invalid for every other
/// loop.
ir::Inst StepsOf(const ir::Function& function, ir::Inst loop);

/// The indices of a loop: one of a `for`, none of a `while`. Operands 2n and 2n + 1 of a `for` or `parallel`
/// are the bounds of index n.
std::span<const ir::Value> IndicesOf(const ir::Function& function, ir::Inst loop);
/// The loop that `v` is an index of; invalid for any other value.
ir::Inst LoopOfIndex(const ir::Function& function, ir::Value v);
/// How many values index `axis` of a `parallel over` takes.
int64_t CellsAlong(const ir::Module& module, const ir::Function& function, ir::Inst over, uint32_t axis);

/// The block that holds the `yield` of a `for` or `while` (region 1 of a `while`).
ir::Block LoopYieldBlock(const ir::Function& function, ir::Inst loop);
/// Carried parameter `k` of a `for` or `while`, which has `result_count` of them.
ir::Value CarriedParam(const ir::Function& function, ir::Inst loop, uint32_t k);
/// Initial value of carried value `k`.
ir::Value CarriedInit(const ir::Function& function, ir::Inst loop, uint32_t k);
/// The value of carried value `k` at the end of an iteration.
ir::Value CarriedYield(const ir::Function& function, ir::Inst loop, uint32_t k);
/// The `k` of a carried parameter of a `for` or `while`; empty for any other value.
std::optional<uint32_t> CarriedNumber(const ir::Function& function, ir::Value v);
/// The value by which a `while` decides whether its body runs.
ir::Value ConditionOf(const ir::Function& function, ir::Inst loop);

}  // namespace adc::analysis

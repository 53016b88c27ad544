#pragma once
// What a layout with one stack per value would keep: the measure that `adc size` compares plans with.
//
// In that layout every value that an adjoint reads, made inside of a loop or a branch, has a stack of its
// own, as long as the loops around it run at most (the product of their largest trip counts), and one slot
// more.

#include <span>
#include <vector>

#include "adstack/plan.h"

namespace adc::adstack {

/// Values that adjoints read, made in one nest of loops and branches.
struct NestReads {
  diag::SourceSpan parallel;            ///< of the parallel loop around
  std::vector<diag::SourceSpan> loops;  ///< places of the serial loops around, outermost first
  uint32_t floats_4 = 0, floats_8 = 0, integers = 0;
};

/// Fills TaskPlan::reference of a planned kernel, which was derived from the kernel that `nests` speaks of. A
/// loop that is not there any more ran at most once.
void PlanReference(const ir::Module& module, const ir::Function& kernel, std::span<const NestReads> nests,
                   AdstackPlan& plan);

}  // namespace adc::adstack

#pragma once
// The cheapest set of values to tape: a minimum vertex cut, as in Enzyme (Moses and others, SC 2022).

#include <cstdint>
#include <vector>

namespace adc::autodiff {

/// A graph of values: the operands of each, and the cost of taping it.
struct CutGraph {
  struct Node {
    uint32_t cost = 0;           ///< bits per iteration; kInfinite: cannot be taped
    bool source = false;         ///< must be taped unless a cut separates it from all sinks
    bool sink = false;           ///< must be available
    std::vector<uint32_t> uses;  ///< nodes computed from this one
  };
  static constexpr uint32_t kInfinite = UINT32_MAX;
  std::vector<Node> nodes;
};

/// The nodes to tape so that every path from a source to a sink passes a taped node, at the least cost;
/// among equally cheap sets the one nearest to the sinks, which leaves the least to recompute. Ascending.
/// Empty with `*found` false where the search was given up (a graph too large for its worth).
std::vector<uint32_t> MinimumCut(const CutGraph& graph, bool* found);

}  // namespace adc::autodiff

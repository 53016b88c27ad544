#pragma once
// The cheapest set of values to keep: a minimum vertex cut.

#include <cstdint>
#include <vector>

namespace adc::autodiff {

/// A graph of values: what is computed from what, and what keeping a value costs.
struct CutGraph {
  struct Node {
    uint32_t cost = 0;           ///< bits per iteration; kInfinite: cannot be kept
    bool source = false;         ///< must be kept unless everything computed from it is cut off behind it
    bool sink = false;           ///< must be at hand
    std::vector<uint32_t> uses;  ///< nodes computed from this one
  };
  static constexpr uint32_t kInfinite = UINT32_MAX;
  std::vector<Node> nodes;
};

/// The nodes to keep so that no sink is reached from a source without passing a kept node, at the least cost;
/// among equally cheap sets the one nearest to the sinks, which leaves the least to recompute. Ascending.
/// Empty with `*found` false where the search was given up (a graph too large for its worth).
std::vector<uint32_t> MinimumCut(const CutGraph& graph, bool* found);

}  // namespace adc::autodiff

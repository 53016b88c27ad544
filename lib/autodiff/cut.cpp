// Maximum flow by augmenting paths over the graph in which every node is split into an entry and an exit with
// its cost between them; edges of the graph have no limit. The cut is read off from the sinks: nodes whose
// exit can still reach a sink in the residual graph while their entry cannot.
//
// The flow is at most the cost of all sources, a few dozen bytes, and each path adds a byte, or a bit where a
// flag is on it, so that the work is linear in the graph for any fixed carried state. A budget ends the
// search for the rest.

#include "autodiff/cut.h"

#include <algorithm>

namespace adc::autodiff {
namespace {

constexpr uint64_t kWorkLimit = 40'000'000;

/// The split graph: vertex 2n is the entry of node n, 2n + 1 its exit; then source and target.
class FlowNetwork {
 public:
  explicit FlowNetwork(const CutGraph& graph) : heads_(2 * graph.nodes.size() + 2, kNone) {
    uint32_t count = static_cast<uint32_t>(graph.nodes.size());
    source_ = 2 * count;
    target_ = source_ + 1;
    for (uint32_t n = 0; n < count; ++n) {
      const CutGraph::Node& node = graph.nodes[n];
      AddEdge(2 * n, 2 * n + 1, node.cost);
      if (node.source) AddEdge(source_, 2 * n, CutGraph::kInfinite);
      if (node.sink) AddEdge(2 * n + 1, target_, CutGraph::kInfinite);
      for (uint32_t use : node.uses) AddEdge(2 * n + 1, 2 * use, CutGraph::kInfinite);
    }
  }

  /// False when the work limit was reached or a path has no finite edge.
  bool Saturate() {
    uint64_t work = 0;
    while (true) {
      std::vector<uint32_t> through(heads_.size(), kNone);
      std::vector<uint32_t> queue{source_};
      through[source_] = kRoot;
      for (size_t at = 0; at < queue.size() && through[target_] == kNone; ++at) {
        for (uint32_t e = heads_[queue[at]]; e != kNone; e = edges_[e].next) {
          ++work;
          if (edges_[e].capacity == 0 || through[edges_[e].to] != kNone) continue;
          through[edges_[e].to] = e;
          queue.push_back(edges_[e].to);
        }
      }
      if (through[target_] == kNone) return true;
      if (work > kWorkLimit) return false;
      uint32_t amount = CutGraph::kInfinite;
      for (uint32_t v = target_; through[v] != kRoot; v = edges_[through[v] ^ 1].to)
        amount = std::min(amount, edges_[through[v]].capacity);
      if (amount == CutGraph::kInfinite) return false;
      for (uint32_t v = target_; through[v] != kRoot; v = edges_[through[v] ^ 1].to) {
        if (edges_[through[v]].capacity != CutGraph::kInfinite) edges_[through[v]].capacity -= amount;
        uint32_t& back = edges_[through[v] ^ 1].capacity;
        if (back != CutGraph::kInfinite) back += amount;
      }
    }
  }

  /// Which vertices can reach the target in the residual graph.
  std::vector<bool> ReachesTarget() const {
    std::vector<bool> reaches(heads_.size(), false);
    std::vector<uint32_t> queue{target_};
    reaches[target_] = true;
    for (size_t at = 0; at < queue.size(); ++at) {
      for (uint32_t e = heads_[queue[at]]; e != kNone; e = edges_[e].next) {
        uint32_t from = edges_[e].to;
        if (reaches[from] || edges_[e ^ 1].capacity == 0) continue;
        reaches[from] = true;
        queue.push_back(from);
      }
    }
    return reaches;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kRoot = UINT32_MAX - 1;
  struct Edge {
    uint32_t to;
    uint32_t next;
    uint32_t capacity;
  };

  void AddEdge(uint32_t from, uint32_t to, uint32_t capacity) {
    edges_.push_back({to, heads_[from], capacity});
    heads_[from] = static_cast<uint32_t>(edges_.size() - 1);
    edges_.push_back({from, heads_[to], 0});
    heads_[to] = static_cast<uint32_t>(edges_.size() - 1);
  }

  std::vector<uint32_t> heads_;
  std::vector<Edge> edges_;
  uint32_t source_ = 0;
  uint32_t target_ = 0;
};

}  // namespace

std::vector<uint32_t> MinimumCut(const CutGraph& graph, bool* found) {
  FlowNetwork network(graph);
  *found = network.Saturate();
  std::vector<uint32_t> cut;
  if (!*found) return cut;
  std::vector<bool> reaches = network.ReachesTarget();
  for (uint32_t n = 0; n < graph.nodes.size(); ++n)
    if (!reaches[2 * n] && reaches[2 * n + 1]) cut.push_back(n);
  return cut;
}

}  // namespace adc::autodiff

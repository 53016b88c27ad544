#include "sizing/compact_pool.h"

#include <vector>

#include "support/check.h"

namespace adc::sizing {

using artifact::kNoNode, artifact::NodeId, artifact::SizeExprPool;

void CompactPool(const SizeExprPool& from, SizeExprPool& to, std::span<NodeId* const> roots) {
  std::vector<NodeId> map(from.size(), kNoNode);
  std::vector<NodeId> pending;
  for (NodeId* root : roots) {
    if (*root == kNoNode) continue;
    pending.push_back(*root);
    while (!pending.empty()) {
      NodeId id = pending.back();
      if (map[id] != kNoNode) {
        pending.pop_back();
        continue;
      }
      artifact::SizeNode node = from[id];
      std::vector<NodeId> indices;
      bool ready = true;
      auto take = [&](NodeId operand) {
        if (map[operand] == kNoNode) {
          pending.push_back(operand);
          ready = false;
        }
        return map[operand];
      };
      for (NodeId& operand : node.operands) {
        if (operand != kNoNode) operand = take(operand);
      }
      for (NodeId index : from.ReadIndices(node)) indices.push_back(take(index));
      if (!ready) continue;
      pending.pop_back();
      map[id] = static_cast<NodeId>(to.size());
      bool added = to.AppendChecked(node, indices, nullptr);
      ADC_CHECK(added, "a node of one pool fits another");
    }
    *root = map[*root];
  }
}

}  // namespace adc::sizing

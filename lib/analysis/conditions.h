#pragma once
// The facts about integers in a condition, through negations, conjunctions, and branches that hand one out.

#include <vector>

#include "analysis/structure.h"

namespace adc::analysis {

/// less < greater, or less <= greater where it is not strict.
struct Order {
  ir::Value less, greater;
  bool strict = true;
  friend bool operator==(const Order&, const Order&) = default;
};

/// Collects what is true wherever `condition` is `holds`. True where that is all: in one execution of `loop`
/// the condition is `holds` exactly where everything collected is true, or nowhere.
bool CollectOrders(const Structure& structure, ir::Inst loop, ir::Value condition, bool holds,
                   std::vector<Order>& orders);

}  // namespace adc::analysis

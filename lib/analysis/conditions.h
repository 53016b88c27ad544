#pragma once
// What is known of conditions at a place: through negations, conjunctions, and branches that hand one out.

#include <optional>
#include <vector>

#include "analysis/structure.h"

namespace adc::analysis {

/// A condition, and whether it is true.
struct Fact {
  ir::Value condition;
  bool truth = true;
  bool divided = false;  ///< other facts say the same
};

/// Facts that hold at one place, and what follows from them.
class Facts {
 public:
  explicit Facts(const ir::Function& function, uint32_t depth = 0) : function_(&function), depth_(depth) {}

  const std::vector<Fact>& all() const { return all_; }
  void Add(ir::Value condition, bool truth);
  /// True if no `if` or `select` here takes this region, or operand.
  bool Exclude(ir::Inst choice, uint32_t region) const;
  /// The facts where the choice takes this region.
  Facts Inside(ir::Inst choice, uint32_t region) const;

 private:
  std::optional<bool> TruthOf(ir::Value condition) const;
  /// Adds what says the same as the fact; false if nothing does.
  bool Divide(Fact fact);

  const ir::Function* function_;
  std::vector<Fact> all_;
  uint32_t depth_;  ///< of values that are asked what follows from them
};

/// `if` or `select`.
bool IsChoice(ir::Op op);
/// The value of a choice's result where it takes this region, or operand.
ir::Value GivenBy(const ir::Function& function, ir::Inst choice, uint32_t region, ir::Value result);

/// less < greater, or less <= greater where it is not strict.
struct Order {
  ir::Value less, greater;
  bool strict = true;
};

/// Collects what is true wherever `condition` is `holds`. True where that is all: in one execution of `loop`
/// the condition is `holds` exactly where everything collected is true, or nowhere.
bool CollectOrders(const Structure& structure, ir::Inst loop, ir::Value condition, bool holds,
                   std::vector<Order>& orders);

}  // namespace adc::analysis

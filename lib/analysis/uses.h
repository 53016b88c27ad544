#pragma once
// The readers of each value.

#include <span>

#include "ir/function.h"

namespace adc::analysis {

/// One operand slot: operand `number` of `inst`.
struct Use {
  ir::Inst inst;
  uint32_t number = 0;
};

/// The uses of every value in textual order, in one table. Const once made; stale after the function is
/// edited.
class Uses {
 public:
  explicit Uses(const ir::Function& function);
  std::span<const Use> Of(ir::Value v) const {
    return {uses_.data() + first_[v.raw], first_[v.raw + 1] - first_[v.raw]};
  }
  bool IsUsed(ir::Value v) const { return first_[v.raw + 1] != first_[v.raw]; }

 private:
  std::vector<Use> uses_;
  std::vector<uint32_t> first_;
};

}  // namespace adc::analysis

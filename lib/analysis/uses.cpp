#include "analysis/uses.h"

#include "analysis/structure.h"

namespace adc::analysis {

Uses::Uses(const ir::Function& function) : first_(function.ValueCount() + 1, 0) {
  Structure structure(function);
  for (ir::Inst inst : structure.Order()) {
    for (ir::Value v : function.Operands(inst)) ++first_[v.raw + 1];
  }
  for (size_t n = 1; n < first_.size(); ++n) first_[n] += first_[n - 1];
  uses_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end());
  for (ir::Inst inst : structure.Order()) {
    for (uint32_t n = 0; n < function[inst].operand_count; ++n)
      uses_[next[function.Operand(inst, n).raw]++] = {inst, n};
  }
}

}  // namespace adc::analysis

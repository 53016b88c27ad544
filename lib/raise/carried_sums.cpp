#include "raise/carried_sums.h"

#include "analysis/loops.h"
#include "analysis/structure.h"

namespace adc::raise {

using ir::Block, ir::Inst, ir::Op, ir::Value;

bool CarriedSums::IsSum(Inst loop, uint32_t number) const {
  Block body = kernel_[loop].regions[0];
  return SumsInto(analysis::CarriedParam(kernel_, loop, number), body, {kernel_.Terminator(body), number});
}

bool CarriedSums::SumsInto(Value v, Block block, analysis::Use end) const {
  std::span<const analysis::Use> uses = uses_.Of(v);
  return SumsInto({uses.begin(), uses.end()}, block, end);
}

bool CarriedSums::SumsInto(const std::vector<analysis::Use>& uses, Block block, analysis::Use end) const {
  if (uses.empty()) return false;
  Inst user = analysis::HolderIn(kernel_, block, uses[0].inst);
  if (!user.Valid()) return false;
  const ir::InstData& data = kernel_[user];
  if (data.op == Op::If && user != uses[0].inst) return SumsThroughIf(uses, user, block, end);
  if (uses.size() == 2) return SumsThroughSelect(uses, block, end);
  if (uses.size() != 1 || user != uses[0].inst) return false;
  uint32_t operand = uses[0].number;
  if (user == end.inst) return operand == end.number;
  if (data.op == Op::Add || (data.op == Op::Sub && operand == 0))
    return SumsInto(kernel_.Result(user), block, end);
  return data.op == Op::For && operand >= 3 && IsSum(user, operand - 3) &&
         SumsInto(kernel_.Result(user, operand - 3), block, end);
}

bool CarriedSums::SumsThroughIf(const std::vector<analysis::Use>& uses, Inst branch, Block block,
                                analysis::Use end) const {
  std::vector<analysis::Use> arms[2];
  for (const analysis::Use& use : uses) {
    if (analysis::HolderIn(kernel_, block, use.inst) != branch) return false;
    bool is_then = analysis::HolderIn(kernel_, kernel_[branch].regions[0], use.inst).Valid();
    arms[is_then ? 0 : 1].push_back(use);
  }
  auto ends = [&](uint32_t arm, uint32_t n) {
    Block region = kernel_[branch].regions[arm];
    return SumsInto(arms[arm], region, {kernel_.Terminator(region), n});
  };
  for (uint32_t n = 0; n < kernel_[branch].result_count; ++n) {
    if (ends(0, n) && ends(1, n)) return SumsInto(kernel_.Result(branch, n), block, end);
  }
  return false;
}

/// select %c, %v, (add %v, %x)
bool CarriedSums::SumsThroughSelect(const std::vector<analysis::Use>& uses, Block block,
                                    analysis::Use end) const {
  for (uint32_t n = 0; n < 2; ++n) {
    Inst choice = uses[n].inst;
    if (kernel_[choice].op != Op::Select || kernel_[choice].parent != block || uses[n].number == 0) continue;
    if (SumsInto({uses[1 - n]}, block, {choice, 3 - uses[n].number}))
      return SumsInto(kernel_.Result(choice), block, end);
  }
  return false;
}

}  // namespace adc::raise

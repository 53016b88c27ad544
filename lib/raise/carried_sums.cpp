#include "raise/carried_sums.h"

namespace adc::raise {

using ir::Block, ir::Inst, ir::Op, ir::Value;

bool CarriedSums::IsSum(Inst loop, uint32_t number) const {
  Block body = kernel_[loop].regions[0];
  return SumsInto(kernel_[body].params[1 + number], body, number);
}

/// Whether `v` comes to operand `number` of the end of `block` with nothing but other values added to it,
/// and goes nowhere else.
bool CarriedSums::SumsInto(Value v, Block block, uint32_t number) const {
  std::span<const analysis::Use> uses = uses_.Of(v);
  return SumsInto({uses.begin(), uses.end()}, block, {kernel_.Terminator(block), number});
}

/// The same of what `uses` read, which comes to the use `end`.
bool CarriedSums::SumsInto(const std::vector<analysis::Use>& uses, Block block, analysis::Use end) const {
  if (uses.empty()) return false;
  Inst user = InBlock(uses[0].inst, block);
  if (!user.Valid()) return false;
  const ir::InstData& data = kernel_[user];
  if (data.op == Op::If && user != uses[0].inst) return SumsThroughIf(uses, user, block, end);
  if (uses.size() == 2) return SumsThroughSelect(uses, block, end);
  if (uses.size() != 1 || user != uses[0].inst) return false;
  uint32_t operand = uses[0].number;
  if (user == end.inst) return operand == end.number;
  if (data.op == Op::Add || (data.op == Op::Sub && operand == 0))
    return Goes(kernel_.Result(user), block, end);
  if (data.op != Op::For || operand < 3) return false;
  Block body = data.regions[0];
  return SumsInto(kernel_[body].params[operand - 2], body, operand - 3) &&
         Goes(kernel_.Result(user, operand - 3), block, end);
}

bool CarriedSums::Goes(Value v, Block block, analysis::Use end) const {
  std::span<const analysis::Use> uses = uses_.Of(v);
  return SumsInto({uses.begin(), uses.end()}, block, end);
}

bool CarriedSums::SumsThroughIf(const std::vector<analysis::Use>& uses, Inst branch, Block block,
                                analysis::Use end) const {
  std::vector<analysis::Use> arms[2];
  for (const analysis::Use& use : uses) {
    if (InBlock(use.inst, block) != branch) return false;
    arms[InBlock(use.inst, kernel_[branch].regions[0]).Valid() ? 0 : 1].push_back(use);
  }
  auto ends = [&](uint32_t arm, uint32_t n) {
    Block region = kernel_[branch].regions[arm];
    return SumsInto(arms[arm], region, {kernel_.Terminator(region), n});
  };
  for (uint32_t n = 0; n < kernel_[branch].result_count; ++n) {
    if (ends(0, n) && ends(1, n)) return Goes(kernel_.Result(branch, n), block, end);
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
      return Goes(kernel_.Result(choice), block, end);
  }
  return false;
}

/// The instruction of `block` that is `inst` or holds it.
Inst CarriedSums::InBlock(Inst inst, Block block) const {
  while (inst.Valid() && kernel_[inst].parent != block) {
    Block around = kernel_[inst].parent;
    inst = around.Valid() ? kernel_[around].owner : Inst();
  }
  return inst;
}

}  // namespace adc::raise

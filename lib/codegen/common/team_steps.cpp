#include "codegen/common/team_steps.h"

namespace adc::codegen {
namespace {

using ir::Inst;
using ir::Op;

TeamWork WorkOf(const ir::Function& kernel, Inst inst) {
  const ir::InstData& data = kernel[inst];
  if (data.op == Op::For && (data.flags & ir::kFlagApart) != 0) return TeamWork::Turns;
  if (data.op == Op::Alloca && (data.flags & ir::kFlagCommon) != 0) return TeamWork::Arrays;
  if (data.op == Op::RowStore) return TeamWork::Writes;
  if (!ir::IsAccess(data.op) || data.op == Op::Load) return TeamWork::Each;
  Inst array = kernel.DefiningInst(kernel.Operand(inst, 0));
  bool is_local = array.Valid() && kernel[array].op == Op::Alloca;
  bool is_shared = !is_local || (kernel[array].flags & ir::kFlagCommon) != 0;
  return is_shared ? TeamWork::Writes : TeamWork::Each;
}

bool TouchesNothing(const ir::Function& kernel, Inst inst) {
  return ir::IsTerminator(kernel[inst].op) || ir::InfoOf(kernel[inst].op).effect == ir::Effect::Pure;
}

/// Whether the team has met at the end of `block`, and touched no memory since.
bool EndsMet(const ir::Function& kernel, ir::Block block) {
  const std::vector<Inst>& insts = kernel[block].insts;
  for (size_t n = insts.size(); n-- > 0;) {
    if (WorkOf(kernel, insts[n]) != TeamWork::Each) return true;
    if (!TouchesNothing(kernel, insts[n])) return false;
  }
  return false;
}

void FindApart(const ir::Function& kernel, ir::Block block, std::vector<Inst>& loops) {
  for (Inst inst : kernel[block].insts) {
    if (WorkOf(kernel, inst) == TeamWork::Turns) {
      loops.push_back(inst);
      continue;
    }
    for (uint32_t region = 0; region < kernel.RegionCount(inst); ++region)
      FindApart(kernel, kernel[inst].regions[region], loops);
  }
}

}  // namespace

std::vector<Inst> SpreadLoopsOf(const ir::Function& kernel, Inst parallel) {
  std::vector<Inst> loops;
  if (MayBeInTeams(kernel[parallel])) FindApart(kernel, kernel[parallel].regions[0], loops);
  return loops;
}

std::vector<TeamStep> TeamStepsOf(const ir::Function& kernel, ir::Block block, uint32_t first, uint32_t last,
                                  bool met) {
  const std::vector<Inst>& insts = kernel[block].insts;
  std::vector<TeamStep> steps;
  for (uint32_t position = first; position < last;) {
    TeamStep step{WorkOf(kernel, insts[position]), position, position + 1, met};
    bool joins = step.work == TeamWork::Arrays || step.work == TeamWork::Writes;
    while (joins && step.last < last && WorkOf(kernel, insts[step.last]) == step.work) ++step.last;
    if (step.work == TeamWork::Each) {
      const ir::InstData& data = kernel[insts[position]];
      if (data.op == Op::For) step.met = met && EndsMet(kernel, data.regions[0]);
      met = met && TouchesNothing(kernel, insts[position]);
    } else {
      met = true;
    }
    position = step.last;
    steps.push_back(step);
  }
  return steps;
}

}  // namespace adc::codegen

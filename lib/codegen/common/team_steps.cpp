#include "codegen/common/team_steps.h"

#include <utility>

namespace adc::codegen {
namespace {

using ir::Inst, ir::Op;

enum class TeamWork : uint8_t { Each, Turns, Arrays, Writes };

TeamWork WorkOf(const ir::Function& kernel, Inst inst) {
  const ir::InstData& data = kernel[inst];
  if (data.op == Op::For && data.Has(ir::Word::Apart)) return TeamWork::Turns;
  if (data.op == Op::Alloca && data.Has(ir::Word::Common)) return TeamWork::Arrays;
  if (data.op == Op::RowStore) return TeamWork::Writes;
  if (!ir::IsAccess(data.op) || data.op == Op::Load) return TeamWork::Each;
  Inst array = kernel.DefiningInst(kernel.Operand(inst, 0));
  bool is_local = array.Valid() && kernel[array].op == Op::Alloca;
  bool is_shared = !is_local || kernel[array].Has(ir::Word::Common);
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

bool IsEachThreadsOwn(const ir::Function& kernel, Inst inst) {
  return WorkOf(kernel, inst) == TeamWork::Each;
}

std::vector<Inst> SpreadLoopsOf(const ir::Function& kernel, Inst parallel) {
  std::vector<Inst> loops;
  if (MayBeInTeams(kernel[parallel])) FindApart(kernel, kernel[parallel].regions[0], loops);
  return loops;
}

void PrintTeam(const ir::Function& kernel, ir::Block block, uint32_t first, uint32_t last, bool& met,
               const TeamPrinter& printer) {
  std::span<const Inst> insts = kernel[block].insts;
  bool now_met = std::exchange(met, false);
  for (uint32_t position = first; position < last;) {
    Inst inst = insts[position];
    TeamWork work = WorkOf(kernel, inst);
    if (work == TeamWork::Each) {
      bool is_loop = kernel[inst].op == Op::For;
      met = is_loop && now_met && EndsMet(kernel, kernel[inst].regions[0]);
      now_met = now_met && TouchesNothing(kernel, inst);
      printer.each(inst);
      ++position;
      continue;
    }
    uint32_t end = position + 1;
    while (work != TeamWork::Turns && end < last && WorkOf(kernel, insts[end]) == work) ++end;
    std::span<const Inst> run = insts.subspan(position, end - position);
    if (!now_met) printer.meet();
    if (work == TeamWork::Turns) printer.turns(inst);
    if (work == TeamWork::Writes) printer.by_first(run);
    for (Inst array : run) {
      if (work == TeamWork::Arrays) printer.array(array);
    }
    printer.meet();
    now_met = true;
    position = end;
  }
}

}  // namespace adc::codegen

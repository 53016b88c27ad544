#include "raise/worker_loop.h"

#include <vector>

#include "analysis/walk.h"

namespace adc::raise {
namespace {

bool IsIdle(const ir::Function& kernel, ir::Block block) {
  for (ir::Inst inst : kernel[block].insts) {
    if (ir::InfoOf(kernel[inst].op).effect != ir::Effect::Pure && !ir::IsTerminator(kernel[inst].op))
      return false;
  }
  return true;
}

bool ComparesFloat(const ir::Function& kernel, ir::Value condition) {
  ir::Inst compared = kernel.DefiningInst(condition);
  if (!compared.Valid()) return false;
  std::span<const ir::Value> operands = kernel.Operands(compared);
  return !operands.empty() && kernel.TypeOf(operands[0]).IsFloat();
}

bool HasGate(const ir::Function& kernel, ir::Inst loop) {
  ir::Inst gate;
  for (ir::Inst inst : kernel[kernel[loop].regions[0]].insts) {
    ir::Op op = kernel[inst].op;
    ir::Effect effect = ir::InfoOf(op).effect;
    if (effect == ir::Effect::Pure || effect == ir::Effect::Read || ir::IsTerminator(op)) continue;
    if (op != ir::Op::If || gate.Valid()) return false;
    gate = inst;
  }
  if (!gate.Valid() || !ComparesFloat(kernel, kernel.Operand(gate, 0))) return false;
  return IsIdle(kernel, kernel[gate].regions[0]) != IsIdle(kernel, kernel[gate].regions[1]);
}

/// Whether a bound of the `parallel` follows from memory.
bool BoundsReadMemory(const ir::Function& kernel, ir::Inst parallel) {
  if (kernel[parallel].op != ir::Op::Parallel) return false;
  IndexSet<ir::Inst> seen;
  std::vector<ir::Inst> left = {parallel};
  while (!left.empty()) {
    ir::Inst inst = left.back();
    left.pop_back();
    for (ir::Value operand : kernel.Operands(inst)) {
      ir::Inst made = kernel.DefiningInst(operand);
      if (!made.Valid() || !seen.Insert(made)) continue;
      if (ir::InfoOf(kernel[made].op).effect != ir::Effect::Pure) return true;
      left.push_back(made);
    }
  }
  return false;
}

/// Without loops, and little of it.
bool IsShort(const ir::Function& kernel, ir::Block block) {
  constexpr size_t kMost = 24;  // instructions of a block
  bool is_short = kernel[block].insts.size() <= kMost;
  for (ir::Inst inst : kernel[block].insts) {
    if (!is_short || !ir::HasRegions(kernel[inst].op)) continue;
    is_short = kernel[inst].op == ir::Op::If;
    for (ir::Block region : kernel[inst].regions)
      is_short = is_short && (!region.Valid() || IsShort(kernel, region));
  }
  return is_short;
}

/// Whether all that a body does to memory are private sums.
bool OnlySums(const ir::Function& kernel, ir::Block block) {
  bool sums = false, writes = false;
  analysis::ForEachInst(kernel, block, [&](ir::Inst inst) {
    ir::Op op = kernel[inst].op;
    ir::Effect effect = ir::InfoOf(op).effect;
    bool is_sum = ir::IsAccess(op) && kernel[inst].Has(ir::Word::Private);
    sums = sums || is_sum;
    writes = writes || (!is_sum && effect != ir::Effect::Pure && effect != ir::Effect::Read &&
                        effect != ir::Effect::Control);
  });
  return sums && !writes;
}

}  // namespace

void MarkWorkerLoops(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  for (ir::Inst loop : kernel[kernel.Body()].insts) {
    ir::InstData& data = kernel[loop];
    if (data.op != ir::Op::Parallel && data.op != ir::Op::ParallelOver) continue;
    if (BoundsReadMemory(kernel, loop)) data.words.Add(ir::Word::Recheck);
    if (!config.device) continue;
    if (HasGate(kernel, loop)) data.words.Add(ir::Word::Sparse);
    if (data.Has(ir::Word::Team)) continue;
    if ((ir::IsCounting(kernel.role) || OnlySums(kernel, data.regions[0])) &&
        IsShort(kernel, data.regions[0]))
      data.words.Add(ir::Word::Fours);
  }
}

}  // namespace adc::raise

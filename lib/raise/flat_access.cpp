#include "raise/flat_access.h"

#include <algorithm>

#include "analysis/walk.h"

namespace adc::raise {

namespace {

bool IsExtentOf(const ir::Function& kernel, ir::Value v, ir::Value buffer, size_t axis) {
  ir::Inst inst = kernel.DefiningInst(v);
  return inst.Valid() && kernel[inst].op == ir::Op::Shape && kernel.Operand(inst, 0) == buffer &&
         kernel[inst].attr == axis;
}

bool IsFlat(const ir::Function& kernel, ir::Inst loop, ir::Inst access) {
  if (kernel[loop].op != ir::Op::Parallel) return false;
  const std::vector<ir::Value>& counters = kernel[kernel[loop].regions[0]].params;
  std::span<const ir::Value> indices = kernel.Indices(access);
  ir::Value buffer = kernel.Operand(access, 0);
  if (!kernel.TypeOf(buffer).IsBuffer() || indices.size() < counters.size()) return false;
  size_t outer = indices.size() - counters.size();
  for (uint32_t n = 0; n < counters.size(); ++n) {
    if (indices[outer + n] != counters[n] || kernel.IntegerConstant(kernel.Operand(loop, 2 * n)) != 0)
      return false;
    if (n > 0 && !IsExtentOf(kernel, kernel.Operand(loop, 2 * n + 1), buffer, outer + n)) return false;
  }
  return true;
}

/// Whether `inst` uses a counter of `loop` for more than a flat access.
bool Uses(const ir::Function& kernel, ir::Inst loop, ir::Inst inst) {
  const std::vector<ir::Value>& counters = kernel[kernel[loop].regions[0]].params;
  size_t uses = 0;
  for (ir::Value operand : kernel.Operands(inst))
    uses += static_cast<size_t>(std::count(counters.begin(), counters.end(), operand));
  if (uses == 0) return false;
  return uses != counters.size() || !ir::IsAccess(kernel[inst].op) || !IsFlat(kernel, loop, inst);
}

bool UsesWithin(const ir::Function& kernel, ir::Inst loop, ir::Block block) {
  bool uses = false;
  analysis::ForEachInst(kernel, block, [&](ir::Inst inst) { uses = uses || Uses(kernel, loop, inst); });
  return uses;
}

/// Where the counters of `loop` must be told apart, since more than flat accesses uses them: its body, or the
/// one branch in its body that all such uses lie in; invalid where there is none.
ir::Block BlockOfCounters(const ir::Function& kernel, ir::Inst loop) {
  ir::Block body = kernel[loop].regions[0], branch;
  for (ir::Inst inst : kernel[body].insts) {
    if (Uses(kernel, loop, inst)) return body;
    for (ir::Block region : kernel[inst].regions) {
      if (!region.Valid() || !UsesWithin(kernel, loop, region)) continue;
      if (kernel[inst].op != ir::Op::If || branch.Valid()) return body;
      branch = region;
    }
  }
  return branch;
}

}  // namespace

void MarkFlatAccesses(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  if (!config.device) return;
  for (ir::Inst loop : kernel[kernel.Body()].insts) {
    ir::InstData& data = kernel[loop];
    if (data.op != ir::Op::Parallel && data.op != ir::Op::ParallelOver) continue;
    analysis::ForEachInst(kernel, data.regions[0], [&](ir::Inst inst) {
      if (ir::IsAccess(kernel[inst].op) && IsFlat(kernel, loop, inst)) kernel[inst].words.Add(ir::Word::Flat);
    });
    ir::Block counters = BlockOfCounters(kernel, loop);
    bool several = kernel[data.regions[0]].params.size() > 1;
    bool late = counters.Valid() && counters != data.regions[0] && several && data.Has(ir::Word::Sparse);
    if (!counters.Valid() || late) data.words.Add(ir::Word::Flat);
    if (!late) continue;
    ir::Inst branch = kernel[counters].owner;
    bool is_then = kernel[branch].regions[0] == counters;
    kernel[branch].words.Add(is_then ? ir::Word::ThenCounters : ir::Word::ElseCounters);
  }
}

}  // namespace adc::raise

#include "codegen/common/flat_access.h"

#include <algorithm>

namespace adc::codegen {

namespace {

bool IsExtentOf(const ir::Function& kernel, ir::Value v, ir::Value buffer, size_t axis) {
  ir::Inst inst = kernel.DefiningInst(v);
  return inst.Valid() && kernel[inst].op == ir::Op::Shape && kernel.Operand(inst, 0) == buffer &&
         kernel[inst].attr == axis;
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
  for (ir::Inst inst : kernel[block].insts) {
    if (Uses(kernel, loop, inst)) return true;
    for (ir::Block region : kernel[inst].regions) {
      if (region.Valid() && UsesWithin(kernel, loop, region)) return true;
    }
  }
  return false;
}

}  // namespace

bool IsFlat(const ir::Function& kernel, ir::Inst loop, ir::Inst access) {
  if (!loop.Valid() || kernel[loop].op != ir::Op::Parallel) return false;
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

}  // namespace adc::codegen

#include "codegen/common/turn_cells.h"

#include <algorithm>

#include "ir/words.h"

namespace adc::codegen {

namespace {

void FindRoots(const ir::Function& kernel, ir::Value v, ir::Block body, std::vector<ir::Value>& roots) {
  if (kernel.IsConstant(v) || kernel.IsParameter(v) || v == kernel[body].params[0]) return;
  ir::Inst made = kernel.DefiningInst(v);
  if (made.Valid() && kernel[made].parent == body) {
    for (ir::Value operand : kernel.Operands(made)) FindRoots(kernel, operand, body, roots);
  } else if (std::find(roots.begin(), roots.end(), v) == roots.end()) {
    roots.push_back(v);
  }
}

void MarkSlice(const ir::Function& kernel, ir::Value v, ir::Block body, IndexSet<ir::Inst>& slice) {
  ir::Inst made = kernel.DefiningInst(v);
  if (!made.Valid() || kernel[made].parent != body || slice.Has(made)) return;
  slice.Insert(made);
  for (ir::Value operand : kernel.Operands(made)) MarkSlice(kernel, operand, body, slice);
}

}  // namespace

bool IsOfTurn(const ir::Function& kernel, ir::Inst inst) {
  return ir::IsAccess(kernel[inst].op) && kernel[inst].Has(ir::Word::OfTurn);
}

TurnCells TurnCellsOf(const ir::Function& kernel, ir::Inst loop) {
  TurnCells found;
  ir::Block body = kernel[loop].regions[0];
  for (ir::Inst inst : kernel[body].insts) {
    if (!IsOfTurn(kernel, inst)) continue;
    found.sums.push_back(inst);
    for (ir::Value index : kernel.Indices(inst)) FindRoots(kernel, index, body, found.roots);
  }
  if (found.sums.empty()) return found;
  for (uint32_t bound : {0u, 1u}) FindRoots(kernel, kernel.Operand(loop, bound), body, found.roots);
  return found;
}

std::vector<ir::Inst> SliceOf(const ir::Function& kernel, ir::Inst loop, const std::vector<ir::Inst>& sums) {
  ir::Block body = kernel[loop].regions[0];
  IndexSet<ir::Inst> marked;
  for (ir::Inst sum : sums) {
    for (ir::Value index : kernel.Indices(sum)) MarkSlice(kernel, index, body, marked);
  }
  std::vector<ir::Inst> slice;
  for (ir::Inst inst : kernel[body].insts) {
    if (marked.Has(inst)) slice.push_back(inst);
  }
  return slice;
}

}  // namespace adc::codegen

#include "transform/axes.h"

#include <algorithm>

#include "analysis/uses.h"

namespace adc::transform {

namespace {

/// Whether `reader` reads `param` as the bound of axes from 0 whose indices nothing reads, and has others.
bool OnlyCounts(const ir::Function& kernel, const analysis::Uses& uses, ir::Inst reader, ir::Value param) {
  if (kernel[reader].op != ir::Op::Parallel) return false;
  const std::vector<ir::Value>& indices = kernel[kernel[reader].regions[0]].params;
  size_t bounded = 0;
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    ir::Value low = kernel.Operand(reader, 2 * axis);
    if (low == param) return false;
    if (kernel.Operand(reader, 2 * axis + 1) != param) continue;
    if (kernel.IntegerConstant(low) != int64_t{0} || uses.IsUsed(indices[axis])) return false;
    ++bounded;
  }
  return bounded < indices.size();
}

void DropAxesOf(ir::Function& kernel, ir::Inst loop, ir::Value param) {
  std::vector<ir::Value> bounds, indices;
  std::vector<ir::Value>& before = kernel[kernel[loop].regions[0]].params;
  for (uint32_t axis = 0; axis < before.size(); ++axis) {
    if (kernel.Operand(loop, 2 * axis + 1) == param) continue;
    bounds.insert(bounds.end(), {kernel.Operand(loop, 2 * axis), kernel.Operand(loop, 2 * axis + 1)});
    kernel[before[axis]].number = static_cast<uint32_t>(indices.size());
    indices.push_back(before[axis]);
  }
  before = std::move(indices);
  kernel.SetOperands(loop, bounds);
}

}  // namespace

void DropAxes(ir::Function& kernel) {
  analysis::Uses uses(kernel);
  std::vector<ir::Value>& params = kernel[kernel.Body()].params;
  uint32_t staying = 0;
  for (uint32_t n = 0; n < params.size(); ++n) {
    ir::Value param = params[n];
    std::span<const analysis::Use> readers = uses.Of(param);
    bool goes = kernel.params[n].if_read && std::ranges::all_of(readers, [&](const analysis::Use& use) {
                  return OnlyCounts(kernel, uses, use.inst, param);
                });
    if (goes) {
      for (const analysis::Use& use : readers) DropAxesOf(kernel, use.inst, param);
      continue;
    }
    kernel.params[staying] = kernel.params[n];
    kernel.params[staying].if_read = false;
    kernel[param].number = staying;
    params[staying++] = param;
  }
  kernel.params.resize(staying);
  params.resize(staying);
}

}  // namespace adc::transform

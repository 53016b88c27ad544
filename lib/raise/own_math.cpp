#include "raise/own_math.h"

#include <algorithm>

#include "analysis/structure.h"
#include "analysis/walk.h"
#include "ir/family.h"
#include "ir/module.h"

namespace adc::raise {
namespace {

/// Whether a body of `kernel` runs in lanes. Those of counting kernels leave vectors for a function.
bool HasLanes(const ir::Function& kernel) {
  if (ir::IsCounting(kernel.role)) return false;
  const std::vector<ir::Inst>& insts = kernel[kernel.Body()].insts;
  return std::any_of(insts.begin(), insts.end(), [&](ir::Inst inst) {
    return analysis::IsParallel(kernel[inst].op) && kernel[inst].Has(ir::Word::LanesBody);
  });
}

}  // namespace

void MarkOwnMath(ir::Module& module, ir::Function& kernel, const RaiseConfig& config) {
  if (config.body_lanes == 0) return;
  bool own = std::any_of(module.functions.begin(), module.functions.end(), [&](const auto& other) {
    return other->IsKernel() && ir::FamilyOf(module, *other) == ir::FamilyOf(module, kernel) &&
           HasLanes(*other);
  });
  if (!own) return;
  analysis::ForEachInst(kernel, [&](ir::Inst inst) {
    bool is_function = ir::ClassOf(kernel[inst].op) == ir::OpClass::Function;
    bool is_rest = kernel[inst].op == ir::Op::Rem && kernel.TypeOf(kernel.Result(inst)).IsFloat();
    if (is_function || is_rest) kernel[inst].words.Add(ir::Word::OwnMath);
  });
}

}  // namespace adc::raise

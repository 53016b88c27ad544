#include "codegen/common/checks.h"

namespace adc::codegen {
namespace {

void Walk(const ir::Function& kernel, ir::Block block, KernelChecks& checks) {
  for (ir::Inst inst : kernel[block].insts) {
    ir::Op op = kernel[inst].op;
    bool promise = (kernel[inst].flags & ir::kFlagPromise) != 0;
    if (op == ir::Op::Assert && !promise) {
      checks.number_of.Set(inst) = static_cast<uint32_t>(checks.asserts.size());
      checks.asserts.push_back(inst);
    } else if (op == ir::Op::Assert || ir::IsAccess(op)) {
      checks.number_of.Set(inst) = static_cast<uint32_t>(checks.accesses.size());
      checks.accesses.push_back(inst);
    }
    for (ir::Block region : kernel[inst].regions) {
      if (region.Valid()) Walk(kernel, region, checks);
    }
  }
}

}  // namespace

KernelChecks NumberChecks(const ir::Function& kernel) {
  KernelChecks checks;
  Walk(kernel, kernel.Body(), checks);
  return checks;
}

}  // namespace adc::codegen

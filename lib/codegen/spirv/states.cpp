#include "codegen/spirv/states.h"

#include <algorithm>

namespace adc::codegen::spirv {

States::States(const ir::Function& function, FunctionBuilder& builder, KernelParts* kernel)
    : function_(function), f_(builder), kernel_(kernel) {
  if (kernel == nullptr) return;
  ModuleBuilder& m = builder.module();
  for (uint32_t sum = 0; sum < kernel->sums.sums().size(); ++sum) {
    Id type = kernel->environment.entry.scalars.RegisterType(kernel->sums.sums()[sum].scalar);
    of_sums_.push_back(New(type, kernel->sums.Start(sum)));
    bool touch = kernel->sums.sums()[sum].touches;
    of_touches_.push_back(touch ? New(m.types.Bool(), m.constants.Bool(false)) : ir::kNoAttr);
  }
  for (ir::Inst inst : function[function.Body()].insts) Find(inst);
}

uint32_t States::New(Id type, Id initial) {
  now_.push_back(initial);
  types_.push_back(type);
  return static_cast<uint32_t>(now_.size() - 1);
}

void States::Find(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  std::vector<uint32_t> found;
  if (uint32_t sum = kernel_->sums.SumOf(inst); sum != ir::kNoAttr) {
    found.push_back(of_sums_[sum]);
    if (of_touches_[sum] != ir::kNoAttr) found.push_back(of_touches_[sum]);
  }
  if (data.op == ir::Op::RowClaim && kernel_->environment.words.IsGated(data.attr)) {
    auto [place, fresh] = of_gates_.try_emplace(data.attr, 0);
    if (fresh) place->second = New(f_.module().types.Int(64), kernel_->rows.Unclaimed());
    found.push_back(place->second);
  }
  for (ir::Block region : data.regions) {
    if (!region.Valid()) continue;
    for (ir::Inst inner : function_[region].insts) {
      Find(inner);
      const std::vector<uint32_t>& more = changes_.Get(inner);
      found.insert(found.end(), more.begin(), more.end());
    }
  }
  if (found.empty()) return;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  changes_.Set(inst) = found;
}

std::vector<OpenPhi> States::Open(ir::Inst inst, Loop& loop) {
  std::vector<OpenPhi> open;
  for (uint32_t state : changes_.Get(inst)) {
    open.push_back(loop.Phi(types_[state], now_[state]));
    now_[state] = open.back().id;
  }
  return open;
}

void States::Close(ir::Inst inst, Loop& loop, const std::vector<OpenPhi>& open) {
  const std::vector<uint32_t>& changed = changes_.Get(inst);
  for (size_t n = 0; n < open.size(); ++n) {
    loop.Close(open[n], now_[changed[n]]);
    now_[changed[n]] = open[n].id;  // the value with which the loop leaves
  }
}

void States::UpdateCells() {
  std::vector<Id> totals, touched;
  for (uint32_t sum = 0; sum < of_sums_.size(); ++sum) {
    totals.push_back(now_[of_sums_[sum]]);
    touched.push_back(of_touches_[sum] != ir::kNoAttr ? now_[of_touches_[sum]] : 0);
  }
  kernel_->sums.UpdateAll(totals, touched);
}

bool States::EmitChange(ir::Inst inst) {
  if (uint32_t sum = kernel_->sums.SumOf(inst); sum != ir::kNoAttr) {
    Id& total = now_[of_sums_[sum]];
    total = kernel_->sums.Accumulate(inst, total);
    if (of_touches_[sum] != ir::kNoAttr) now_[of_touches_[sum]] = f_.module().constants.Bool(true);
    return true;
  }
  if (function_[inst].op != ir::Op::RowClaim) return false;
  auto gate = of_gates_.find(function_[inst].attr);
  if (gate == of_gates_.end()) return false;
  now_[gate->second] = kernel_->rows.EmitGatedClaim(inst, now_[gate->second]);
  return true;
}

}  // namespace adc::codegen::spirv

#include "raise/axis_use.h"

#include <algorithm>

namespace adc::raise {

using ir::Op;

AxisUse::AxisUse(const ir::Function& kernel, ir::Inst loop) : kernel_(kernel) {
  ir::Block body = kernel[loop].regions[0];
  for (size_t axis = 0; axis < kernel[body].params.size(); ++axis) {
    axes_.Set(kernel[body].params[axis]) = 1u << axis;
    all_ |= 1u << axis;
  }
  if (!kernel[body].params.empty()) spread_.Insert(kernel[body].params.back());
  Walk(body);
}

bool AxisUse::Spreads(ir::Inst inst) const {
  /// So few values neighbours have at least: a wave has 32 or 64 iterations.
  constexpr int64_t kFew = 32;
  const ir::InstData& data = kernel_[inst];
  auto is_spread = [&](ir::Value v) { return IsSpread(v); };
  if (!std::ranges::any_of(kernel_.Operands(inst), is_spread)) return false;
  if (data.op == Op::Div || data.op == Op::FloorDiv || data.op == Op::Shr) return false;
  if (data.op == Op::Rem || data.op == Op::Mod || data.op == Op::And) {
    return std::ranges::none_of(kernel_.Operands(inst), [&](ir::Value v) {
      std::optional<int64_t> literal = kernel_.IntegerConstant(v);
      return literal && *literal < kFew;
    });
  }
  // Back from a float, which may have been scaled.
  if (data.op == Op::Cast) return !ir::IsFloat(kernel_.TypeOf(kernel_.Operand(inst, 0)).scalar);
  return ir::ClassOf(data.op) == ir::OpClass::Arithmetic || ir::ClassOf(data.op) == ir::OpClass::Bits;
}

void AxisUse::Walk(ir::Block block) {
  for (ir::Inst inst : kernel_[block].insts) {
    const ir::InstData& data = kernel_[inst];
    if (ir::HasRegions(data.op)) {
      WalkControl(inst);
      continue;
    }
    uint32_t used = 0;
    for (ir::Value v : kernel_.Operands(inst)) used |= axes_.Get(v);
    // The contents of memory that is written may depend on anything.
    if (ir::IsAtomic(data.op) || data.op == Op::RowLoad || data.op == Op::RowClaim || data.op == Op::Alloca)
      used = all_;
    for (uint32_t n = 0; n < data.result_count; ++n) axes_.Set(kernel_.Result(inst, n)) = used;
    if (data.result_count == 1 && Spreads(inst)) spread_.Insert(kernel_.Result(inst));
  }
}

void AxisUse::WalkControl(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  uint32_t used = all_;  // of its results: carried values go through all that the body does
  if (data.op == Op::For) {
    const std::vector<ir::Value>& params = kernel_[data.regions[0]].params;
    axes_.Set(params[0]) = axes_.Get(kernel_.Operand(inst, 0));
    if (IsSpread(kernel_.Operand(inst, 0))) spread_.Insert(params[0]);
    for (size_t n = 1; n < params.size(); ++n) axes_.Set(params[n]) = all_;
  } else if (data.op == Op::While) {
    for (ir::Value param : kernel_[data.regions[0]].params) axes_.Set(param) = all_;
  }
  for (ir::Block region : data.regions) {
    if (region.Valid()) Walk(region);
  }
  for (uint32_t n = 0; n < data.result_count; ++n) {
    if (data.op == Op::If) {
      used = axes_.Get(kernel_.Operand(inst, 0));
      for (ir::Block region : data.regions) {
        ir::Value yielded = kernel_.Operand(kernel_.Terminator(region), n);
        used |= axes_.Get(yielded);
        if (IsSpread(yielded)) spread_.Insert(kernel_.Result(inst, n));
      }
    }
    axes_.Set(kernel_.Result(inst, n)) = used;
  }
}

}  // namespace adc::raise

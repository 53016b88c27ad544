#include "autodiff/sources.h"

#include "autodiff/region_tree.h"
#include "ir/op.h"

namespace adc::autodiff {

using ir::Block, ir::Inst, ir::Op, ir::Value;

Sources::Sources(const analysis::Structure& structure) : function_(structure.function()) {
  for (Inst inst : structure.Order()) {
    if (!ir::IsAccess(function_[inst].op)) continue;
    std::span<const Value> values = function_.AccessValues(inst);
    std::vector<Value>& written = written_[function_.Operand(inst, 0)];
    written.insert(written.end(), values.begin(), values.end());
  }
}

std::span<const Value> Sources::WrittenInto(Value memory) const {
  auto written = written_.find(memory);
  return written == written_.end() ? std::span<const Value>() : written->second;
}

std::vector<Value> Sources::Of(Value v) const {
  Inst inst = function_.DefiningInst(v);
  std::optional<uint32_t> carried = CarriedNumber(function_, v);
  if (carried) inst = function_[function_.DefiningBlock(v)].owner;
  if (!inst.Valid()) return {};
  const ir::InstData& data = function_[inst];
  uint32_t k = carried ? *carried : v.raw - data.first_result.raw;
  if (IsSerialLoop(data.op)) return {CarriedInit(function_, inst, k), CarriedYield(function_, inst, k)};
  if (data.op == Op::If) {
    std::vector<Value> sources;
    for (Block region : data.regions) sources.push_back(function_.Operand(function_.Terminator(region), k));
    return sources;
  }
  std::span<const Value> sources;
  if (data.op == Op::Load)
    sources = WrittenInto(function_.Operand(inst, 0));
  else if (ir::InfoOf(data.op).effect == ir::Effect::Pure)
    sources = function_.Operands(inst);
  return {sources.begin(), sources.end()};
}

}  // namespace adc::autodiff

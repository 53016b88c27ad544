#include "transform/selects.h"

#include "ir/cheap.h"

namespace adc::transform {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// Of truth values: `a && b` and `a || b` as they are written.
Value Chosen(FoldingBuilder& builder, Value condition, Value yes, Value no) {
  const Function& function = builder.function();
  auto is = [&](Value v, uint64_t bits) {
    return function.TypeOf(v) == ir::kI1 && function.IsConstant(v) && function.ConstantOf(v).bits == bits;
  };
  if (yes != no && is(no, 0)) return builder.Make(Op::And, {condition, yes});
  if (yes != no && is(yes, 1)) return builder.Make(Op::Or, {condition, no});
  return builder.Make(Op::Select, {condition, yes, no});
}

}  // namespace

std::optional<std::vector<Value>> TakeAsSelects(FoldingBuilder& builder, Inst choice) {
  Function& function = builder.function();
  for (Block region : function[choice].regions) {
    if (!ir::IsCheap(function, region)) return std::nullopt;
  }
  function[builder.block()].insts.pop_back();
  std::vector<Value> yes, no;
  for (std::vector<Value>* values : {&yes, &no}) {
    Block region = function[choice].regions[values == &yes ? 0 : 1];
    Inst end = function.Terminator(region);
    for (Inst inst : function[region].insts) {
      if (inst != end) function.Append(builder.block(), inst);
    }
    std::span<const Value> yielded = function.Operands(end);
    values->assign(yielded.begin(), yielded.end());
    function[region].insts.clear();
  }
  Value condition = function.Operand(choice, 0);
  std::vector<Value> results;
  for (size_t n = 0; n < yes.size(); ++n) results.push_back(Chosen(builder, condition, yes[n], no[n]));
  return results;
}

}  // namespace adc::transform

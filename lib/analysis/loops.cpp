#include "analysis/loops.h"

#include "analysis/structure.h"
#include "ir/module.h"

namespace adc::analysis {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

uint64_t TripsBetween(int64_t lo, int64_t hi, int64_t step) {
  if (hi <= lo) return 0;
  uint64_t distance = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
  return (distance - 1) / static_cast<uint64_t>(step) + 1;
}

std::optional<uint64_t> ConstantTrips(const Function& function, Inst loop) {
  if (function[loop].op != Op::For) return std::nullopt;
  std::optional<int64_t> lo = function.IntegerConstant(function.Operand(loop, 0));
  std::optional<int64_t> hi = function.IntegerConstant(function.Operand(loop, 1));
  std::optional<int64_t> step = function.IntegerConstant(function.Operand(loop, 2));
  if (!lo || !hi || !step || *step <= 0) return std::nullopt;
  return TripsBetween(*lo, *hi, *step);
}

Value IterationNumber(ir::Builder& builder, Value index, Value low, Value step) {
  const Function& function = builder.function();
  std::optional<int64_t> low_constant = function.IntegerConstant(low);
  std::optional<int64_t> step_constant = function.IntegerConstant(step);
  bool by_one = step_constant == 1;
  if (low_constant >= 0) {
    ir::Value number = *low_constant == 0 ? index : builder.Make(Op::Sub, {index, low});
    return by_one ? number : builder.Make(Op::Div, {number, step});
  }
  auto wide = [&](ir::Value v) {
    std::optional<int64_t> constant = function.IntegerConstant(v);
    return constant ? builder.I64(*constant) : builder.Cast(v, ir::kI64);
  };
  bool is_narrow = function.TypeOf(index) == ir::kI32;
  ir::Value distance =
      is_narrow ? builder.Make(Op::Sub, {wide(index), wide(low)}) : builder.Make(Op::Sub, {index, low});
  if (by_one) return distance;
  if (is_narrow) return builder.Make(Op::Div, {distance, wide(step)});
  // The distance of two i64 fits an u64.
  constexpr ir::Type kUnsigned = ir::Type::Of(ir::Scalar::U64);
  ir::Value stride = builder.Int(kUnsigned, *step_constant);
  ir::Value number = builder.Make(Op::Div, {builder.Bitcast(distance, kUnsigned), stride});
  return builder.Bitcast(number, ir::kI64);
}

bool RunsAtLeastOnce(const Function& function, Inst loop) {
  Op op = function[loop].op;
  if (op == Op::ParallelOver) return true;
  if (op == Op::While) {
    // The bound is asked before the condition.
    if (!function[loop].Has(ir::Word::HasMax)) return true;
    std::optional<int64_t> max = function.IntegerConstant(function.Operand(loop, 0));
    return max.has_value() && *max > 0;
  }
  if (op == Op::For) {
    std::optional<uint64_t> trips = ConstantTrips(function, loop);
    return trips.has_value() && *trips > 0;
  }
  if (op != Op::Parallel) return false;
  for (uint32_t n = 0; n + 1 < function[loop].operand_count; n += 2) {
    std::optional<int64_t> lo = function.IntegerConstant(function.Operand(loop, n));
    std::optional<int64_t> hi = function.IntegerConstant(function.Operand(loop, n + 1));
    if (!lo || !hi || *hi <= *lo) return false;
  }
  return true;
}

Inst StepsOf(const Function& function, Inst loop) {
  const ir::InstData& data = function[loop];
  if (!IsSerialLoop(data.op) || !data.Has(ir::Word::Checkpoint)) return {};
  for (Inst inst : function[LoopYieldBlock(function, loop)].insts) {
    if (function[inst].Has(ir::Word::Steps)) return inst;
  }
  return {};
}

std::span<const Value> IndicesOf(const Function& function, Inst loop) {
  if (function[loop].op == Op::While) return {};
  std::span<const Value> params = function[function[loop].regions[0]].params;
  return function[loop].op == Op::For ? params.first(1) : params;
}

Inst LoopOfIndex(const Function& function, Value v) {
  const ir::ValueData& data = function[v];
  if (data.kind != ir::ValueKind::BlockParam) return {};
  Inst owner = function[Block(data.owner)].owner;
  bool is_index = owner.Valid() &&
                  (IsParallel(function[owner].op) || (function[owner].op == Op::For && data.number == 0));
  return is_index ? owner : Inst();
}

int64_t CellsAlong(const ir::Module& module, const Function& function, Inst over, uint32_t axis) {
  const ir::Layout& layout = module.layouts[function.TypeOf(function.Operand(over, 0)).count];
  return static_cast<int64_t>(layout.fields[function[over].attr].axes[axis].extent);
}

Block LoopYieldBlock(const Function& function, Inst loop) {
  return function[loop].regions[function[loop].op == Op::While ? 1 : 0];
}

Value CarriedParam(const Function& function, Inst loop, uint32_t k) {
  return function[function[loop].regions[0]].params[function[loop].op == Op::While ? k : k + 1];
}

Value CarriedInit(const Function& function, Inst loop, uint32_t k) {
  const ir::InstData& data = function[loop];
  return function.Operand(loop, data.operand_count - data.result_count + k);
}

Value CarriedYield(const Function& function, Inst loop, uint32_t k) {
  return function.Operand(function.Terminator(LoopYieldBlock(function, loop)), k);
}

std::optional<uint32_t> CarriedNumber(const Function& function, Value v) {
  const ir::ValueData& data = function[v];
  if (data.kind != ir::ValueKind::BlockParam) return std::nullopt;
  Inst loop = function[Block(data.owner)].owner;
  if (!loop.Valid() || !IsSerialLoop(function[loop].op)) return std::nullopt;
  if (function[loop].op == Op::While) return data.number;
  return data.number > 0 ? std::optional(data.number - 1) : std::nullopt;
}

Value ConditionOf(const Function& function, Inst loop) {
  return function.Operand(function.Terminator(function[loop].regions[0]), 0);
}

}  // namespace adc::analysis

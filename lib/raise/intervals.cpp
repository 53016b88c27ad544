#include "raise/intervals.h"

#include <algorithm>
#include <optional>

#include "analysis/loops.h"
#include "analysis/walk.h"

namespace adc::raise {
namespace {

using ir::Op;

/// The interval of an operation on i32 operands, before it is cut to the type; empty where nothing is known.
std::optional<Interval> IntervalOf(Op op, Interval a, Interval b) {
  if (op == Op::Add) return Interval{a.low + b.low, a.high + b.high};
  if (op == Op::Sub) return Interval{a.low - b.high, a.high - b.low};
  if (op == Op::Mul) {
    auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return Interval{low, high};
  }
  if (op == Op::Min) return Interval{std::min(a.low, b.low), std::min(a.high, b.high)};
  if (op == Op::Max) return Interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  if ((op == Op::Div || op == Op::FloorDiv) && a.low >= 0 && b.low >= 1)
    return Interval{a.low / b.high, a.high / b.low};
  if (op == Op::CeilDiv && a.low >= 0 && b.low >= 1) return Interval{0, a.high};
  if ((op == Op::Rem && a.low >= 0 && b.low >= 1) || (op == Op::Mod && b.low >= 1))
    return Interval{0, b.high - 1};
  if (op == Op::And && b.low >= 0) return Interval{0, b.high};
  if (op == Op::And && a.low >= 0) return Interval{0, a.high};
  return std::nullopt;
}

}  // namespace

Intervals::Intervals(const ir::Module& module, const ir::Function& kernel)
    : module_(module), kernel_(kernel) {
  analysis::ForEachInst(kernel, [&](ir::Inst inst) { Enter(inst); });
}

/// In textual order: the operands of a value are known before it.
void Intervals::Enter(ir::Inst inst) {
  Op op = kernel_[inst].op;
  if (op == Op::Shape) {
    bounds_.Set(kernel_.Result(inst)) = {0, INT32_MAX};
  } else if (op == Op::For || op == Op::Parallel || op == Op::ParallelOver) {
    BindCounters(inst);
  } else if (ir::IsScalarOperation(op)) {
    BindResult(inst);
  }
}

Interval Intervals::Of(ir::Value v) const {
  if (std::optional<int64_t> constant = kernel_.IntegerConstant(v)) return {*constant, *constant};
  return bounds_.Get(v);
}

/// Of a counter from operand `first` of a loop to the one after it.
Interval Intervals::BetweenOf(ir::Inst loop, uint32_t first) const {
  return {Of(kernel_.Operand(loop, first)).low, Of(kernel_.Operand(loop, first + 1)).high - 1};
}

void Intervals::BindCounters(ir::Inst loop) {
  bool is_over = kernel_[loop].op == Op::ParallelOver;
  std::span<const ir::Value> counters = analysis::IndicesOf(kernel_, loop);
  for (uint32_t n = 0; n < counters.size(); ++n) {
    if (!kernel_.TypeOf(counters[n]).Is(ir::Scalar::I32)) continue;
    bounds_.Set(counters[n]) =
        is_over ? Interval{0, analysis::CellsAlong(module_, kernel_, loop, n) - 1} : BetweenOf(loop, 2 * n);
  }
}

void Intervals::BindResult(ir::Inst inst) {
  const ir::InstData& data = kernel_[inst];
  if (data.operand_count != 2) return;
  ir::Value result = kernel_.Result(inst), a = kernel_.Operand(inst, 0), b = kernel_.Operand(inst, 1);
  if (!kernel_.TypeOf(result).Is(ir::Scalar::I32) || !kernel_.TypeOf(a).Is(ir::Scalar::I32)) return;
  std::optional<Interval> interval = IntervalOf(data.op, Of(a), Of(b));
  if (!interval || !interval->Fits()) return;
  bounds_.Set(result) = *interval;
  exact_.Insert(inst);
}

}  // namespace adc::raise

#include "interp/control.h"

#include <numeric>

#include "interp/origins.h"
#include "ir/module.h"
#include "ir/scalar_math.h"

namespace adc::interp {
namespace {

/// Calls within calls.
constexpr size_t kMaxCalls = 4096;

const Code* OverBudget(Machine& m, const Code* c) {
  return m.Fail(ErrorKind::StepBudget, c,
                "the run takes more than " + std::to_string(m.options->step_budget) + " steps");
}

/// Sets the induction variables of the iteration at the current position.
void SetIteration(Machine& m, const ParallelInfo& info) {
  auto& state = m.parallel;
  switch (m.options->order) {
    case Order::Forward:
      state.flat = state.position;
      break;
    case Order::Reversed:
      state.flat = state.total - 1 - state.position;
      break;
    case Order::Shuffled:
      state.flat = (state.position == 0 ? state.offset : state.flat + state.stride) % state.total;
      break;
  }
  uint64_t rest = state.flat;
  for (size_t axis = info.axes.size(); axis-- > 0;) {
    uint64_t index = rest % state.extents[axis];
    rest /= state.extents[axis];
    uint64_t lo = info.field != nullptr ? 0 : m.cells[info.axes[axis].lo];
    m.cells[info.axes[axis].iv] = lo + index;
  }
}

}  // namespace

const Code* JumpStep(Machine&, const Code* c) {
  return c + c->jump;
}

const Code* JumpUnlessStep(Machine& m, const Code* c) {
  return (m.cells[c->a] & 1) != 0 ? c + 1 : c + c->jump;
}

const Code* ForBeginStep(Machine& m, const Code* c) {
  const LoopInfo& loop = m.program->loops[c->info];
  auto lo = static_cast<int64_t>(m.cells[loop.lo]), hi = static_cast<int64_t>(m.cells[loop.hi]);
  auto step = static_cast<int64_t>(m.cells[loop.step]);
  if (step <= 0) return m.Fail(ErrorKind::LoopStep, c, "the step of a loop is " + std::to_string(step));
  uint64_t trips = 0;
  if (hi > lo)
    trips = (static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo) - 1) / static_cast<uint64_t>(step) + 1;
  LoopStatistics& statistics = m.result->loops[loop.statistics];
  ++statistics.entries;
  statistics.trips += trips;
  statistics.max_trips = std::max(statistics.max_trips, trips);
  if (trips == 0) return c + c->jump;
  m.cells[loop.counter] = trips;
  uint64_t to_last = (trips - 1) * static_cast<uint64_t>(step);
  m.cells[loop.iv] = loop.reversed ? static_cast<uint64_t>(lo) + to_last : static_cast<uint64_t>(lo);
  m.cells[loop.increment] = static_cast<uint64_t>(loop.reversed ? -step : step);
  return m.Spend(loop.cost) ? c + 1 : OverBudget(m, c);
}

const Code* ForNextStep(Machine& m, const Code* c) {
  const LoopInfo& loop = m.program->loops[c->info];
  if (--m.cells[loop.counter] == 0) return c + 1;
  m.cells[loop.iv] += m.cells[loop.increment];
  return m.Spend(loop.cost) ? c + c->jump : OverBudget(m, c);
}

const Code* WhileBeginStep(Machine& m, const Code* c) {
  const LoopInfo& loop = m.program->loops[c->info];
  m.cells[loop.counter] = 0;
  ++m.result->loops[loop.statistics].entries;
  return c + 1;
}

const Code* WhileLimitStep(Machine& m, const Code* c) {
  const LoopInfo& loop = m.program->loops[c->info];
  bool more = static_cast<int64_t>(m.cells[loop.counter]) < static_cast<int64_t>(m.cells[loop.hi]);
  return more ? c + 1 : c + c->jump;
}

const Code* WhileCountStep(Machine& m, const Code* c) {
  const LoopInfo& loop = m.program->loops[c->info];
  ++m.cells[loop.counter];
  return m.Spend(loop.cost) ? c + 1 : OverBudget(m, c);
}

const Code* WhileEndStep(Machine& m, const Code* c) {
  const LoopInfo& loop = m.program->loops[c->info];
  LoopStatistics& statistics = m.result->loops[loop.statistics];
  statistics.trips += m.cells[loop.counter];
  statistics.max_trips = std::max(statistics.max_trips, m.cells[loop.counter]);
  return c + 1;
}

const Code* ParallelBeginStep(Machine& m, const Code* c) {
  const ParallelInfo& info = m.program->parallels[c->info];
  auto& state = m.parallel;
  state.total = 1;
  state.position = 0;
  for (size_t axis = 0; axis < info.axes.size(); ++axis) {
    uint64_t extent = 0;
    if (info.field != nullptr) {
      extent = info.field->axes[axis].extent;
    } else {
      auto lo = static_cast<int64_t>(m.cells[info.axes[axis].lo]),
           hi = static_cast<int64_t>(m.cells[info.axes[axis].hi]);
      if (hi > lo) extent = static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
    }
    state.extents[axis] = extent;
  }
  for (size_t axis = 0; axis < info.axes.size(); ++axis) {
    if (state.extents[axis] == 0) return c + c->jump;
    if (__builtin_mul_overflow(state.total, state.extents[axis], &state.total) || state.total > uint64_t{1}
                                                                                                    << 62)
      return m.Fail(ErrorKind::Limit, c, "a parallel loop has more than 2^62 iterations");
  }
  if (m.options->order == Order::Shuffled) {
    // A walk in steps that share no factor with the number of iterations meets each of them once.
    uint64_t seed = m.options->seed * 0x9E3779B97F4A7C15ull;
    state.offset = seed % state.total;
    state.stride = (seed >> 17) % state.total | 1;
    while (std::gcd(state.stride, state.total) != 1) state.stride += 1;
  }
  SetIteration(m, info);
  return m.Spend(info.cost) ? c + 1 : OverBudget(m, c);
}

const Code* ParallelNextStep(Machine& m, const Code* c) {
  const ParallelInfo& info = m.program->parallels[c->info];
  if (++m.parallel.position == m.parallel.total) return c + 1;
  SetIteration(m, info);
  return m.Spend(info.cost) ? c + c->jump : OverBudget(m, c);
}

const Code* CallStep(Machine& m, const Code* c) {
  const CallInfo& call = m.program->calls[c->info];
  const FunctionCode& callee = m.program->functions[call.callee];
  if (m.frames.size() >= kMaxCalls)
    return m.Fail(ErrorKind::CallDepth, c, "functions call each other too deeply");
  if (!m.Spend(callee.code.size())) return OverBudget(m, c);
  size_t caller = m.base;
  Frame frame{c + 1, caller, m.function, &call};
  if (!m.Enter(callee, caller + m.function->cells))
    return m.Fail(ErrorKind::Limit, c, "the functions that call each other need too many registers");
  m.frames.push_back(frame);
  for (size_t n = 0; n < call.arguments.size(); ++n)
    m.CopyCells(caller + call.arguments[n].first, m.base + callee.params[n].first, call.arguments[n].count);
  return callee.code.data();
}

const Code* ReturnStep(Machine& m, const Code*) {
  const FunctionCode& callee = *m.function;
  if (m.frames.empty()) {
    for (CellRange range : callee.results) {
      m.result->results.emplace_back(m.cells + range.first, m.cells + range.first + range.count);
      if (m.tangents != nullptr)
        m.result->result_tangents.emplace_back(m.tangents + range.first,
                                               m.tangents + range.first + range.count);
    }
    return nullptr;
  }
  Frame frame = m.frames.back();
  m.frames.pop_back();
  size_t from = m.base;
  m.SetFrame(frame.function, frame.base);
  std::span<const CellRange> results = frame.call->results;
  for (size_t n = 0; n < results.size(); ++n)
    m.CopyCells(from + callee.results[n].first, m.base + results[n].first, results[n].count);
  return frame.return_to;
}

const Code* AssertStep(Machine& m, const Code* c) {
  if ((m.cells[c->a] & 1) == 0) {
    const ReportInfo& report = m.program->reports[c->info];
    m.Raise(2, report.task, report.number, 0, c, report.pieces.empty() ? std::string() : report.pieces[0]);
  }
  return c + 1;
}

const Code* PrintStep(Machine& m, const Code* c) {
  const ReportInfo& report = m.program->reports[c->info];
  std::string& out = m.result->printed;
  for (size_t n = 0; n < report.pieces.size(); ++n) {
    out += report.pieces[n];
    if (n >= report.operands.size()) continue;
    auto [cell, type] = report.operands[n];
    uint32_t count = type.Components();
    if (count > 1) out += '(';
    for (uint32_t k = 0; k < count; ++k) {
      if (k > 0) out += ", ";
      out += ir::PrintNumber(type.scalar, m.cells[cell + k]);
    }
    if (count > 1) out += ')';
  }
  out += '\n';
  return c + 1;
}

const Code* StatusRaiseStep(Machine& m, const Code* c) {
  const ReportInfo& report = m.program->reports[c->info];
  m.Raise(report.code, report.task, report.number, m.cells[c->a], c);
  return c + 1;
}

const Code* UnsupportedStep(Machine& m, const Code* c) {
  return m.Fail(ErrorKind::Unsupported, c, m.program->texts[c->info]);
}

}  // namespace adc::interp

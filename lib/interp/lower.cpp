#include "interp/lower.h"

#include <algorithm>

#include "analysis/tasks.h"
#include "interp/arithmetic.h"
#include "interp/control.h"
#include "interp/memory.h"
#include "interp/workgroup.h"
#include "ir/module.h"
#include "ir/promise.h"
#include "ir/scalar_math.h"
#include "support/check.h"

namespace adc::interp {

using ir::Block, ir::ControlOp, ir::Inst, ir::InstData, ir::Op, ir::OpClass, ir::Type, ir::Value;

std::unique_ptr<Program> Lower(const ir::Module& module, const ir::Function& function,
                               const LowerOptions& options) {
  auto program = std::make_unique<Program>();
  program->dual = options.dual;
  std::vector<const ir::Function*> wanted{&function};
  auto number_of = [&](const ir::Function& callee) {
    auto found = std::find(wanted.begin(), wanted.end(), &callee);
    if (found == wanted.end()) found = wanted.insert(found, &callee);
    return static_cast<uint32_t>(found - wanted.begin());
  };
  for (size_t n = 0; n < wanted.size(); ++n)
    program->functions.push_back(FunctionLowering(module, *wanted[n], options, *program, number_of).Take());
  return program;
}

FunctionLowering::FunctionLowering(const ir::Module& module, const ir::Function& function,
                                   const LowerOptions& options, Program& program, FunctionNumber number_of)
    : StepWriter(module, function, options, program), number_of_(std::move(number_of)) {}

FunctionCode FunctionLowering::Take() {
  for (Value param : function_.Params()) code_.params.push_back(RangeOf(param));
  std::vector<analysis::Task> tasks;
  if (function_.IsKernel()) tasks = analysis::TasksOf(function_);
  const std::vector<Inst>& insts = function_[function_.Body()].insts;
  for (uint32_t position = 0; position < insts.size(); ++position) {
    while (task_ + 1 < tasks.size() && position >= tasks[task_].last) ++task_;
    LowerInst(insts[position]);
  }
  if (insts.empty() || function_[insts.back()].op != Op::Return) Emit(ReturnStep);
  return TakeCode();
}

void FunctionLowering::LowerBlock(Block block) {
  for (Inst inst : function_[block].insts) LowerInst(inst);
}

void FunctionLowering::LowerControl(Inst inst) {
  switch (ir::In<ControlOp>(function_[inst].op)) {
    case ControlOp::For:
      return LowerFor(inst);
    case ControlOp::While:
      return LowerWhile(inst);
    case ControlOp::If:
      return LowerIf(inst);
    case ControlOp::Scope:
      return LowerScope(inst);
    case ControlOp::Parallel:
    case ControlOp::ParallelOver:
      return LowerParallel(inst);
    case ControlOp::Call:
      return LowerCall(inst);
  }
  ADC_UNREACHABLE("operation of control");
}

void FunctionLowering::LowerInst(Inst inst) {
  const InstData& data = function_[inst];
  Origin outer = Enter(inst);
  switch (ir::ClassOf(data.op)) {
    case OpClass::Control:
      LowerControl(inst);
      break;
    case OpClass::Terminator:
      // The owners of the others move the values.
      if (data.op == Op::Return) LowerReturn(inst);
      if (ir::IsLeave(data.op) && !function_.IsUnreached(inst)) LowerLeave(inst);
      break;
    case OpClass::Check:
      LowerReport(inst);
      break;
    case OpClass::Shape:
      LowerShape(inst);
      break;
    case OpClass::Local:
      LowerAlloca(inst);
      break;
    case OpClass::Access:
    case OpClass::Atomic:
      LowerAccess(inst);
      break;
    case OpClass::Stack:
      LowerStack(inst);
      break;
    case OpClass::Row:
      LowerRow(inst);
      break;
    case OpClass::Arithmetic:
    case OpClass::Function:
    case OpClass::Compare:
    case OpClass::Bits:
    case OpClass::Convert:
    case OpClass::Composed:
    case OpClass::Vector:
    case OpClass::Random:
      LowerValue(inst);
      break;
  }
  Return(outer);
}

// before: counter, iv; body; counter, iv, jump back; after.
void FunctionLowering::LowerFor(Inst inst) {
  const InstData& data = function_[inst];
  Block body = data.regions[0];
  const std::vector<Value>& params = function_[body].params;
  std::span<const Value> operands = function_.Operands(inst);
  LoopInfo loop;
  loop.statistics = AddRow(program_.loop_statistics, {function_.name, inst});
  loop.lo = CellOf(operands[0]);
  loop.hi = CellOf(operands[1]);
  loop.step = CellOf(operands[2]);
  loop.iv = CellOf(params[0]);
  loop.counter = NewCells(2);
  loop.increment = loop.counter + 1;
  loop.reversed = data.Has(ir::Word::Reversed);
  uint32_t info = AddRow(program_.loops, loop);

  MoveAll(operands.subspan(3), std::span(params).subspan(1));
  size_t begin = Emit(ForBeginStep, 0, 0, 0, 0, info);
  open_.emplace(inst, Open{std::span(params).subspan(1), {}, {}});
  LowerBlock(body);
  Open leaves = std::move(open_.extract(inst).mapped());
  MoveAll(function_.Operands(function_.Terminator(body)), std::span(params).subspan(1));
  for (size_t jump : leaves.continues) JumpHere(jump);
  size_t next = Emit(ForNextStep, 0, 0, 0, 0, info);
  JumpTo(next, begin + 1);
  JumpHere(begin);
  for (size_t jump : leaves.breaks) JumpHere(jump);
  program_.loops[info].cost = static_cast<uint32_t>(next - begin);
  for (uint32_t n = 0; n < data.result_count; ++n) Alias(function_.Result(inst, n), CellOf(params[n + 1]));
}

void FunctionLowering::LowerWhile(Inst inst) {
  const InstData& data = function_[inst];
  Block test = data.regions[0], body = data.regions[1];
  const std::vector<Value>& params = function_[test].params;
  std::span<const Value> operands = function_.Operands(inst);
  bool bounded = data.Has(ir::Word::HasMax);
  LoopInfo loop;
  loop.statistics = AddRow(program_.loop_statistics, {function_.name, inst});
  if (bounded) loop.hi = CellOf(operands[0]);
  loop.counter = NewCells(1);
  uint32_t info = AddRow(program_.loops, loop);

  MoveAll(operands.subspan(bounded ? 1 : 0), params);
  Emit(WhileBeginStep, 0, 0, 0, 0, info);
  size_t head = Here();
  // At the bound the loop ends before its test.
  if (bounded) Emit(WhileLimitStep, 0, 0, 0, 0, info);
  LowerBlock(test);
  size_t leave = Emit(JumpUnlessStep, 0, CellOf(function_.Operand(function_.Terminator(test), 0)));
  Emit(WhileCountStep, 0, 0, 0, 0, info);
  open_.emplace(inst, Open{params, {}, {}, info});
  LowerBlock(body);
  Open leaves = std::move(open_.extract(inst).mapped());
  MoveAll(function_.Operands(function_.Terminator(body)), params);
  for (size_t jump : leaves.continues) JumpHere(jump);
  size_t back = Emit(JumpStep);
  JumpTo(back, head);
  JumpHere(leave);
  for (size_t jump : leaves.breaks) JumpHere(jump);
  if (bounded) JumpHere(head);
  Emit(WhileEndStep, 0, 0, 0, 0, info);
  program_.loops[info].cost = static_cast<uint32_t>(back - head + 1);
  for (uint32_t n = 0; n < data.result_count; ++n) Alias(function_.Result(inst, n), CellOf(params[n]));
}

void FunctionLowering::LowerIf(Inst inst) {
  const InstData& data = function_[inst];
  size_t branch = Emit(JumpUnlessStep, 0, CellOf(function_.Operand(inst, 0)));
  LowerBlock(data.regions[0]);
  MoveToResults(data.regions[0], inst);
  Inst end = function_.Terminator(data.regions[1]);
  bool has_else =
      function_[data.regions[1]].insts.size() > 1 || data.result_count != 0 || function_[end].op != Op::Yield;
  if (!has_else) {
    JumpHere(branch);
    return;
  }
  size_t over = Emit(JumpStep);
  JumpHere(branch);
  LowerBlock(data.regions[1]);
  MoveToResults(data.regions[1], inst);
  JumpHere(over);
}

void FunctionLowering::LowerScope(Inst inst) {
  const InstData& data = function_[inst];
  std::vector<Value> results;
  for (uint32_t n = 0; n < data.result_count; ++n) results.push_back(function_.Result(inst, n));
  open_.emplace(inst, Open{results, {}, {}});
  LowerBlock(data.regions[0]);
  MoveToResults(data.regions[0], inst);
  for (size_t jump : open_.at(inst).breaks) JumpHere(jump);
  open_.erase(inst);
}

void FunctionLowering::LowerParallel(Inst inst) {
  const InstData& data = function_[inst];
  const std::vector<Value>& params = function_[data.regions[0]].params;
  ParallelInfo parallel;
  if (data.op == Op::ParallelOver)
    parallel.field = &module_.layouts[function_.TypeOf(function_.Operand(inst, 0)).count].fields[data.attr];
  for (uint32_t axis = 0; axis < params.size(); ++axis) {
    ParallelInfo::Axis cells;
    cells.iv = CellOf(params[axis]);
    if (parallel.field == nullptr) {
      cells.lo = CellOf(function_.Operand(inst, 2 * axis));
      cells.hi = CellOf(function_.Operand(inst, 2 * axis + 1));
    }
    parallel.axes.push_back(cells);
  }
  bool by_workgroups = data.Has(ir::Word::Workgroup);
  if (by_workgroups) {
    parallel.axes.pop_back();
    parallel.invocation = CellOf(params.back());
    parallel.invocations = static_cast<uint32_t>(*function_.IntegerConstant(function_.Operands(inst).back()));
  }
  uint32_t info = AddRow(program_.parallels, std::move(parallel));
  size_t begin = Emit(ParallelBeginStep, 0, 0, 0, 0, info);
  if (by_workgroups) Emit(WorkgroupBeginStep, 0, 0, 0, 0, info);
  open_.emplace(inst, Open());
  LowerBlock(data.regions[0]);
  for (size_t jump : open_.at(inst).continues) JumpHere(jump);
  open_.erase(inst);
  if (by_workgroups) Emit(WorkgroupNextStep);
  size_t next = Emit(ParallelNextStep, 0, 0, 0, 0, info);
  JumpTo(next, begin + 1);
  JumpHere(begin);
  program_.parallels[info].cost = static_cast<uint32_t>(next - begin);
}

// A dual run calls a function with a derivative of its own twice: the function for the values, and its `jvp`,
// on values, for the tangents.
void FunctionLowering::LowerCall(Inst inst) {
  const InstData& data = function_[inst];
  const ir::Function* callee = module_.Find(data.symbol);
  if (callee == nullptr) return Unsupported("a call of an unknown function");
  CallInfo call;
  call.callee = number_of_(*callee);
  for (Value v : function_.Operands(inst)) call.arguments.push_back(RangeOf(v));
  for (uint32_t n = 0; n < data.result_count; ++n) call.results.push_back(RangeOf(function_.Result(inst, n)));
  Emit(CallStep, 0, 0, 0, 0, AddRow(program_.calls, call));
  if (!options_.dual || !callee->jvp.Valid()) return;

  const ir::Function* derivative = module_.Find(callee->jvp);
  if (derivative == nullptr) return Unsupported("a call of an unknown function");
  CallInfo tangent_call;
  tangent_call.callee = number_of_(*derivative);
  tangent_call.arguments = call.arguments;
  for (Value v : function_.Operands(inst)) {
    Type type = function_.TypeOf(v);
    if (!type.IsFloat()) continue;
    CellRange range{NewCells(CellCount(type)), CellCount(type)};
    for (uint32_t k = 0; k < range.count; ++k)
      Emit(TangentToValueStep(Register(type.scalar)), range.first + k, CellOf(v) + k);
    tangent_call.arguments.push_back(range);
  }
  for (Type type : callee->result_types) {
    if (type.IsFloat()) tangent_call.results.push_back({NewCells(CellCount(type)), CellCount(type)});
  }
  Emit(CallStep, 0, 0, 0, 0, AddRow(program_.calls, tangent_call));
  size_t next = 0;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Type type = function_.TypeOf(function_.Result(inst, n));
    if (!type.IsFloat()) continue;
    CellRange range = tangent_call.results[next++];
    for (uint32_t k = 0; k < range.count; ++k)
      Emit(ValueToTangentStep(Register(type.scalar)), call.results[n].first + k, range.first + k);
  }
}

void FunctionLowering::LowerReturn(Inst inst) {
  for (Value v : function_.Operands(inst)) code_.results.push_back(RangeOf(v));
  Emit(ReturnStep);
}

void FunctionLowering::LowerReport(Inst inst) {
  const InstData& data = function_[inst];
  if (data.op == Op::Barrier) {
    Emit(BarrierStep);
    return;
  }
  std::span<const Value> operands = function_.Operands(inst);
  auto info = static_cast<uint32_t>(program_.reports.size());
  ReportInfo report;
  report.task = task_;
  std::string_view text = module_.Text(data.symbol);
  if (data.op == Op::Assert) {
    report.number = asserts_++;
    bool promise = data.Has(ir::Word::Promise);
    report.pieces.emplace_back(promise ? ir::BrokenPromise(static_cast<ir::Promise>(data.attr), text) : text);
    Emit(AssertStep, 0, CellOf(operands[0]), 0, 0, info);
  } else if (data.op == Op::StatusRaise) {
    // The codes of the status word (RunStatus).
    bool access = data.Has(ir::Word::Access), promise = data.Has(ir::Word::Promise);
    bool assertion = data.Has(ir::Word::Assertion);
    report.code = access ? 3 : promise ? 4 : assertion ? 2 : 1;
    if (report.code == 1) report.task = data.attr;
    report.number = data.component;
    Emit(StatusRaiseStep, 0, operands.empty() ? ConstantCell(0) : CellOf(operands[0]), 0, 0, info);
  } else {
    for (size_t at = text.find("{}"); at != std::string_view::npos; at = text.find("{}")) {
      report.pieces.emplace_back(text.substr(0, at));
      text.remove_prefix(at + 2);
    }
    report.pieces.emplace_back(text);
    for (Value v : operands) {
      Type type = function_.TypeOf(v);
      report.operands.emplace_back(CellOf(v), type.WithScalar(Register(type.scalar)));
    }
    Emit(PrintStep, 0, 0, 0, 0, info);
  }
  program_.reports.push_back(std::move(report));
}

void FunctionLowering::LowerLeave(Inst inst) {
  Inst target = function_.TargetOf(inst);
  for (Inst around = function_.OwnerOf(inst); around != target; around = function_.OwnerOf(around)) {
    auto open = open_.find(around);
    if (open != open_.end() && open->second.counts) Emit(WhileEndStep, 0, 0, 0, 0, *open->second.counts);
  }
  Open& left = open_.at(target);
  MoveAll(function_.LeavingValues(inst), left.values);
  (function_[inst].op == Op::Continue ? left.continues : left.breaks).push_back(Emit(JumpStep));
}

void FunctionLowering::MoveAll(std::span<const Value> from, std::span<const Value> to) {
  std::vector<std::pair<uint32_t, uint32_t>> moves;  // target, source
  for (size_t n = 0; n < to.size(); ++n) {
    for (uint32_t k = 0; k < CellCount(function_.TypeOf(to[n])); ++k) {
      uint32_t target = CellOf(to[n]) + k, source = CellOf(from[n]) + k;
      if (target != source) moves.emplace_back(target, source);
    }
  }
  // A source that an earlier move overwrites is saved first.
  std::vector<uint32_t> targets;
  for (auto& [target, source] : moves) {
    if (std::find(targets.begin(), targets.end(), source) != targets.end()) {
      uint32_t saved = NewCells(1);
      EmitMove(saved, source);
      source = saved;
    }
    targets.push_back(target);
  }
  for (auto [target, source] : moves) EmitMove(target, source);
}

void FunctionLowering::MoveToResults(Block block, Inst owner) {
  if (function_[function_.Terminator(block)].op != Op::Yield) return;  // it does not come to its end
  std::vector<Value> results;
  for (uint32_t n = 0; n < function_[owner].result_count; ++n) results.push_back(function_.Result(owner, n));
  MoveAll(function_.Operands(function_.Terminator(block)).first(results.size()), results);
}

}  // namespace adc::interp

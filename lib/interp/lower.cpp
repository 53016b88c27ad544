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

using ir::Block;
using ir::ControlOp;
using ir::Inst;
using ir::InstData;
using ir::Op;
using ir::OpClass;
using ir::Scalar;
using ir::Type;
using ir::Value;

namespace {
constexpr uint32_t kNoCell = UINT32_MAX;
}

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
    : module_(module),
      function_(function),
      options_(options),
      program_(program),
      number_of_(std::move(number_of)),
      cell_of_(function.ValueCount(), kNoCell) {
  out_.function = &function;
}

FunctionCode FunctionLowering::Take() {
  for (Value param : function_.Params())
    out_.params.push_back({CellOf(param), CellCount(function_.TypeOf(param))});
  std::vector<analysis::Task> tasks;
  if (function_.IsKernel()) tasks = analysis::TasksOf(function_);
  const std::vector<Inst>& insts = function_[function_.Body()].insts;
  for (uint32_t position = 0; position < insts.size(); ++position) {
    while (task_ + 1 < tasks.size() && position >= tasks[task_].last) ++task_;
    LowerInst(insts[position]);
  }
  if (insts.empty() || function_[insts.back()].op != Op::Return) Emit(ReturnStep());
  if (options_.origins) out_.cell_of = std::move(cell_of_);
  return std::move(out_);
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
  diag::SourceSpan outer = span_;
  Inst outer_inst = inst_;
  inst_ = inst;
  if (data.span.Valid()) span_ = data.span;
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
  span_ = outer;
  inst_ = outer_inst;
}

// before: counter, iv; body; counter, iv, jump back; after.
void FunctionLowering::LowerFor(Inst inst) {
  const InstData& data = function_[inst];
  Block body = data.regions[0];
  const std::vector<Value>& params = function_[body].params;
  std::span<const Value> operands = function_.Operands(inst);
  LoopInfo loop;
  loop.statistics = static_cast<uint32_t>(program_.loop_statistics.size());
  program_.loop_statistics.push_back({function_.name, inst});
  loop.lo = CellOf(operands[0]);
  loop.hi = CellOf(operands[1]);
  loop.step = CellOf(operands[2]);
  loop.iv = CellOf(params[0]);
  loop.counter = NewCells(2);
  loop.increment = loop.counter + 1;
  loop.reversed = data.Has(ir::Word::Reversed);
  auto info = static_cast<uint32_t>(program_.loops.size());
  program_.loops.push_back(loop);

  MoveAll(operands.subspan(3), std::span(params).subspan(1));
  size_t begin = Emit(ForBeginStep(), 0, 0, 0, 0, info);
  open_.emplace(inst, Open{std::span(params).subspan(1), {}, {}});
  LowerBlock(body);
  Open leaves = std::move(open_.extract(inst).mapped());
  MoveAll(function_.Operands(function_.Terminator(body)), std::span(params).subspan(1));
  for (size_t jump : leaves.continues) JumpTo(jump, Here());
  size_t next = Emit(ForNextStep(), 0, 0, 0, 0, info);
  JumpTo(next, begin + 1);
  JumpTo(begin, Here());
  for (size_t jump : leaves.breaks) JumpTo(jump, Here());
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
  loop.statistics = static_cast<uint32_t>(program_.loop_statistics.size());
  program_.loop_statistics.push_back({function_.name, inst});
  if (bounded) loop.hi = CellOf(operands[0]);
  loop.counter = NewCells(1);
  auto info = static_cast<uint32_t>(program_.loops.size());
  program_.loops.push_back(loop);

  MoveAll(operands.subspan(bounded ? 1 : 0), params);
  Emit(WhileBeginStep(), 0, 0, 0, 0, info);
  size_t head = Here();
  // At the bound the loop ends before its test.
  if (bounded) Emit(WhileLimitStep(), 0, 0, 0, 0, info);
  LowerBlock(test);
  size_t leave = Emit(JumpUnlessStep(), 0, CellOf(function_.Operand(function_.Terminator(test), 0)));
  Emit(WhileCountStep(), 0, 0, 0, 0, info);
  open_.emplace(inst, Open{params, {}, {}, info});
  LowerBlock(body);
  Open leaves = std::move(open_.extract(inst).mapped());
  MoveAll(function_.Operands(function_.Terminator(body)), params);
  for (size_t jump : leaves.continues) JumpTo(jump, Here());
  size_t back = Emit(WhileNextStep());
  JumpTo(back, head);
  JumpTo(leave, Here());
  for (size_t jump : leaves.breaks) JumpTo(jump, Here());
  if (bounded) JumpTo(head, Here());
  Emit(WhileEndStep(), 0, 0, 0, 0, info);
  program_.loops[info].cost = static_cast<uint32_t>(back - head + 1);
  for (uint32_t n = 0; n < data.result_count; ++n) Alias(function_.Result(inst, n), CellOf(params[n]));
}

void FunctionLowering::LowerIf(Inst inst) {
  const InstData& data = function_[inst];
  size_t branch = Emit(JumpUnlessStep(), 0, CellOf(function_.Operand(inst, 0)));
  LowerBlock(data.regions[0]);
  MoveToResults(data.regions[0], inst);
  Inst end = function_.Terminator(data.regions[1]);
  bool has_else =
      function_[data.regions[1]].insts.size() > 1 || data.result_count != 0 || function_[end].op != Op::Yield;
  if (!has_else) {
    JumpTo(branch, Here());
    return;
  }
  size_t over = Emit(JumpStep());
  JumpTo(branch, Here());
  LowerBlock(data.regions[1]);
  MoveToResults(data.regions[1], inst);
  JumpTo(over, Here());
}

void FunctionLowering::LowerScope(Inst inst) {
  const InstData& data = function_[inst];
  std::vector<Value> results;
  for (uint32_t n = 0; n < data.result_count; ++n) results.push_back(function_.Result(inst, n));
  open_.emplace(inst, Open{results, {}, {}});
  LowerBlock(data.regions[0]);
  MoveToResults(data.regions[0], inst);
  for (size_t jump : open_.at(inst).breaks) JumpTo(jump, Here());
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
  auto info = static_cast<uint32_t>(program_.parallels.size());
  program_.parallels.push_back(std::move(parallel));
  size_t begin = Emit(ParallelBeginStep(), 0, 0, 0, 0, info);
  if (by_workgroups) Emit(WorkgroupBeginStep(), 0, 0, 0, 0, info);
  open_.emplace(inst, Open());
  LowerBlock(data.regions[0]);
  for (size_t jump : open_.at(inst).continues) JumpTo(jump, Here());
  open_.erase(inst);
  if (by_workgroups) Emit(WorkgroupNextStep());
  size_t next = Emit(ParallelNextStep(), 0, 0, 0, 0, info);
  JumpTo(next, begin + 1);
  JumpTo(begin, Here());
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
  for (Value v : function_.Operands(inst))
    call.arguments.push_back({CellOf(v), CellCount(function_.TypeOf(v))});
  for (uint32_t n = 0; n < data.result_count; ++n) {
    Value result = function_.Result(inst, n);
    call.results.push_back({CellOf(result), CellCount(function_.TypeOf(result))});
  }
  Emit(CallStep(), 0, 0, 0, 0, static_cast<uint32_t>(program_.calls.size()));
  program_.calls.push_back(call);
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
  Emit(CallStep(), 0, 0, 0, 0, static_cast<uint32_t>(program_.calls.size()));
  program_.calls.push_back(tangent_call);
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
  for (Value v : function_.Operands(inst))
    out_.results.push_back({CellOf(v), CellCount(function_.TypeOf(v))});
  Emit(ReturnStep());
}

void FunctionLowering::LowerReport(Inst inst) {
  const InstData& data = function_[inst];
  if (data.op == Op::Barrier) {
    Emit(BarrierStep());
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
    Emit(AssertStep(), 0, CellOf(operands[0]), 0, 0, info);
  } else if (data.op == Op::StatusRaise) {
    // The codes of the status word (RunStatus).
    bool access = data.Has(ir::Word::Access), promise = data.Has(ir::Word::Promise);
    bool assertion = data.Has(ir::Word::Assertion);
    report.code = access ? 3 : promise ? 4 : assertion ? 2 : 1;
    if (report.code == 1) report.task = data.attr;
    report.number = data.component;
    Emit(StatusRaiseStep(), 0, operands.empty() ? ConstantCell(0) : CellOf(operands[0]), 0, 0, info);
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
    Emit(PrintStep(), 0, 0, 0, 0, info);
  }
  program_.reports.push_back(std::move(report));
}

void FunctionLowering::LowerLeave(Inst inst) {
  Inst target = function_.TargetOf(inst);
  for (Inst around = function_.OwnerOf(inst); around != target; around = function_.OwnerOf(around)) {
    auto open = open_.find(around);
    if (open != open_.end() && open->second.counts) Emit(WhileEndStep(), 0, 0, 0, 0, *open->second.counts);
  }
  Open& left = open_.at(target);
  MoveAll(function_.LeavingValues(inst), left.values);
  (function_[inst].op == Op::Continue ? left.continues : left.breaks).push_back(Emit(JumpStep()));
}

void FunctionLowering::Unsupported(std::string text) {
  Emit(UnsupportedStep(), 0, 0, 0, 0, static_cast<uint32_t>(program_.texts.size()));
  program_.texts.push_back(std::move(text));
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

size_t FunctionLowering::Emit(Step step, uint32_t dst, uint32_t a, uint32_t b, uint32_t c, uint32_t info) {
  ADC_CHECK(step != nullptr, "no step for an operation of this type");
  out_.code.push_back({step, dst, a, b, c, 0, info});
  out_.spans.push_back(span_);
  if (options_.origins) out_.insts.push_back(inst_);
  return out_.code.size() - 1;
}

void FunctionLowering::JumpTo(size_t from, size_t target) {
  out_.code[from].jump = static_cast<int32_t>(static_cast<int64_t>(target) - static_cast<int64_t>(from));
}

uint32_t FunctionLowering::NewCells(uint32_t count) {
  uint32_t first = out_.cells;
  out_.cells += count;
  return first;
}

uint32_t FunctionLowering::CellOf(Value value) {
  uint32_t& cell = cell_of_[value.raw];
  if (cell != kNoCell) return cell;
  const ir::ValueData& data = function_[value];
  if (data.kind == ir::ValueKind::Constant) {
    const ir::ConstantData& constant = function_.ConstantOf(value);
    return cell = ConstantCell(RegisterBits(constant.type.scalar, constant.bits));
  }
  if (data.kind == ir::ValueKind::Global) {
    const ir::ModuleConstant& constant = module_.constants[data.owner];
    if (!constant.type.IsArray())
      return cell = ConstantCell(RegisterBits(constant.type.scalar, constant.elements[0]));
    uint64_t first = program_.array_constants.size();
    for (uint64_t bits : constant.elements)
      program_.array_constants.push_back(RegisterBits(constant.type.scalar, bits));
    return cell = ConstantCell(first);
  }
  return cell = NewCells(CellCount(data.type));
}

uint32_t FunctionLowering::ConstantCell(uint64_t bits) {
  auto [found, fresh] = constant_cells_.try_emplace(bits, 0);
  if (fresh) {
    found->second = NewCells(1);
    out_.constants.emplace_back(found->second, bits);
  }
  return found->second;
}

uint32_t FunctionLowering::CellCount(Type type) const {
  return type.IsRegister() ? type.Components() : 1;
}

void FunctionLowering::Alias(Value value, uint32_t first_cell) {
  cell_of_[value.raw] = first_cell;
}

Scalar FunctionLowering::Register(Scalar scalar) const {
  return options_.promote_floats && ir::IsFloat(scalar) ? Scalar::F64 : scalar;
}

uint64_t FunctionLowering::RegisterBits(Scalar scalar, uint64_t bits) const {
  return IsPromoted(scalar) ? ir::ToBits(ir::FloatFromBits(scalar, bits)) : bits;
}

}  // namespace adc::interp
